import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='SourceState',
            fields=[
                ('name', models.TextField(primary_key=True, serialize=False)),
                ('kind', models.TextField()),
                ('cursor', models.JSONField(default=dict)),
                ('leased_until', models.DateTimeField(blank=True, null=True)),
                ('leased_by', models.TextField(blank=True)),
                ('next_at', models.DateTimeField(blank=True, null=True)),
                ('synced_at', models.DateTimeField(blank=True, null=True)),
                ('took_ms', models.IntegerField(blank=True, null=True)),
                ('error', models.TextField(blank=True)),
                ('failing_since', models.DateTimeField(blank=True, null=True)),
                ('is_permanent', models.BooleanField(default=False)),
                ('error_count', models.IntegerField(default=0)),
                ('inspection', models.JSONField(default=dict)),
                ('inspected_at', models.DateTimeField(blank=True, null=True)),
                ('takes_writes', models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name='Token',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(max_length=100)),
                ('note', models.CharField(blank=True, max_length=200)),
                ('secret_hash', models.CharField(max_length=64)),
                ('hint', models.CharField(max_length=20)),
                ('request_key', models.UUIDField(default=uuid.uuid4, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.CharField(max_length=150)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_by', models.CharField(blank=True, max_length=150)),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('window_at', models.DateTimeField(blank=True, null=True)),
                ('window_count', models.BigIntegerField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('secret_hash',), name='token_secret_hash')],
            },
        ),
        migrations.CreateModel(
            name='ForeignRow',
            fields=[
                ('pk', models.CompositePrimaryKey('source', 'key', blank=True, editable=False, primary_key=True, serialize=False)),
                ('source', models.TextField()),
                ('key', models.TextField()),
                ('letter_id', models.BigIntegerField()),
                ('status', models.TextField()),
                ('failed_at', models.DateTimeField()),
                ('attempts', models.IntegerField()),
                ('is_open', models.BooleanField()),
                ('watched_until', models.DateTimeField(blank=True, null=True)),
                ('retrying_since', models.DateTimeField(blank=True, null=True)),
                ('asked_at', models.DateTimeField(blank=True, null=True)),
                ('asked_failed_at', models.DateTimeField(blank=True, null=True)),
                ('asked_attempts', models.IntegerField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['letter_id'], name='foreignrow_letter'), models.Index(condition=models.Q(('is_open', True)), fields=['source', 'key'], name='foreignrow_open'), models.Index(condition=models.Q(('watched_until__isnull', False)), fields=['source', 'watched_until'], name='foreignrow_watched'), models.Index(condition=models.Q(('retrying_since__isnull', False)), fields=['source', 'retrying_since'], name='foreignrow_retrying')],
            },
        ),
        migrations.CreateModel(
            name='MovedRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.TextField()),
                ('key', models.TextField()),
                ('letter_id', models.BigIntegerField()),
                ('actor', models.TextField()),
                ('wanted', models.TextField()),
                ('found', models.TextField()),
                ('at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['source', '-at'], name='movedrow_source'), models.Index(fields=['letter_id'], name='movedrow_letter')],
            },
        ),
        migrations.CreateModel(
            name='OwedRelease',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.TextField()),
                ('key', models.TextField()),
                ('retrying_since', models.DateTimeField()),
                ('actor', models.TextField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('source', 'key'), name='owedrelease_once')],
            },
        ),
        migrations.CreateModel(
            name='OwedWrite',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.TextField()),
                ('letter_id', models.BigIntegerField()),
            ],
            options={
                'indexes': [models.Index(fields=['source', 'id'], name='owedwrite_source')],
            },
        ),
    ]
