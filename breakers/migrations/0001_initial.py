import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Reading',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.CharField(max_length=100)),
                ('cursor', models.CharField(default='0', max_length=40)),
                ('began_at', models.DateTimeField(blank=True, null=True)),
                ('read_at', models.DateTimeField(blank=True, null=True)),
                ('error', models.TextField(blank=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('place',), name='reading_place')],
            },
        ),
        migrations.CreateModel(
            name='Breaker',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(default='redrive', max_length=100)),
                ('name', models.CharField(max_length=500)),
                ('state', models.CharField(choices=[('closed', 'Closed'), ('half_open', 'Half open'), ('open', 'Open')], default='closed', max_length=10)),
                ('changed_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('left_closed_at', models.DateTimeField(blank=True, null=True)),
                ('retry_at', models.DateTimeField(blank=True, null=True)),
                ('failure_count', models.PositiveBigIntegerField(blank=True, null=True)),
                ('last_error', models.TextField(blank=True)),
                ('policy', models.JSONField(default=dict)),
                ('used_by', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                ('seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'indexes': [models.Index(fields=['-changed_at', '-id'], name='breaker_changed'), models.Index(fields=['-seen_at'], name='breaker_seen'), models.Index(condition=models.Q(('state', 'closed'), _negated=True), fields=['source'], name='breaker_not_closed')],
                'constraints': [models.UniqueConstraint(fields=('source', 'name'), name='breaker_source_name')],
            },
        ),
        migrations.CreateModel(
            name='Transition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('from_state', models.CharField(choices=[('closed', 'Closed'), ('half_open', 'Half open'), ('open', 'Open')], max_length=10)),
                ('to_state', models.CharField(choices=[('closed', 'Closed'), ('half_open', 'Half open'), ('open', 'Open')], max_length=10)),
                ('cause', models.CharField(max_length=40)),
                ('error', models.TextField(blank=True)),
                ('stream_id', models.CharField(blank=True, max_length=40, null=True)),
                ('breaker', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='transitions', to='breakers.breaker')),
            ],
            options={
                'indexes': [models.Index(fields=['breaker', '-at', '-id'], name='transition_breaker'), models.Index(fields=['at'], name='transition_at')],
                'constraints': [models.UniqueConstraint(fields=('stream_id',), name='transition_stream_id')],
            },
        ),
        migrations.CreateModel(
            name='Trip',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('actor', models.CharField(max_length=150)),
                ('reason', models.TextField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('ended_by', models.CharField(blank=True, max_length=150)),
                ('is_lifted', models.BooleanField(default=False)),
                ('breaker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='trips', to='breakers.breaker')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('is_lifted', False)), fields=['id'], name='trip_not_lifted')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('breaker',), name='trip_one_a_breaker')],
            },
        ),
    ]
