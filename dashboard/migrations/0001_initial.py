import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='QuietSpell',
            fields=[
                ('id', models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('since', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('actor', models.CharField(max_length=150)),
                ('action', models.CharField(max_length=60)),
                ('outcome', models.CharField(choices=[('succeeded', 'Succeeded'), ('failed', 'Failed')], max_length=10)),
                ('subject', models.CharField(blank=True, max_length=200)),
                ('reason', models.TextField(blank=True)),
                ('details', models.JSONField(blank=True, default=dict)),
                ('address', models.GenericIPAddressField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['-at', '-id'], name='audit_at'), models.Index(fields=['actor', '-at', '-id'], name='audit_actor'), models.Index(fields=['action', '-at', '-id'], name='audit_action'), models.Index(fields=['subject', '-at', '-id'], name='audit_subject')],
            },
        ),
        migrations.CreateModel(
            name='Heartbeat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('worker', 'Worker'), ('beat', 'Beat'), ('consumer', 'Consumer'), ('redis', 'Redis')], max_length=10)),
                ('name', models.CharField(max_length=200)),
                ('seen_at', models.DateTimeField()),
                ('started_at', models.DateTimeField()),
                ('facts', models.JSONField(default=dict)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('kind', 'name'), name='heartbeat_kind_name')],
            },
        ),
        migrations.CreateModel(
            name='LoginLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token_hash', models.CharField(max_length=64)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('token_hash',), name='login_link_token_hash')],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=40)),
                ('title', models.CharField(max_length=200)),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('running', 'Running'), ('pausing', 'Pausing'), ('paused', 'Paused'), ('cancelling', 'Cancelling'), ('cancelled', 'Cancelled'), ('finished', 'Finished'), ('failed', 'Failed')], default='pending', max_length=10)),
                ('requested_by', models.CharField(max_length=150)),
                ('reason', models.TextField(blank=True)),
                ('options', models.JSONField(blank=True, default=dict)),
                ('request_key', models.UUIDField(unique=True)),
                ('failure', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['-created_at', '-id'], name='run_created'), models.Index(condition=models.Q(('state__in', ['finished', 'cancelled', 'failed']), _negated=True), fields=['state'], name='run_active'), models.Index(condition=models.Q(('state', 'failed')), fields=['-ended_at'], name='run_failed')],
            },
        ),
        migrations.CreateModel(
            name='SignInAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('username', models.CharField(max_length=150)),
                ('address', models.GenericIPAddressField()),
            ],
            options={
                'indexes': [models.Index(fields=['username', 'at'], name='sign_in_username'), models.Index(fields=['address', 'at'], name='sign_in_address')],
            },
        ),
        migrations.CreateModel(
            name='DismissedPanel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'name'), name='dismissed_panel_once')],
            },
        ),
        migrations.CreateModel(
            name='Lane',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('total', models.BigIntegerField(default=0)),
                ('totals', models.JSONField(default=dict)),
                ('cursor', models.JSONField(default=dict)),
                ('is_done', models.BooleanField(default=False)),
                ('epoch', models.BigIntegerField(default=0)),
                ('leased_until', models.DateTimeField(blank=True, null=True)),
                ('leased_by', models.CharField(blank=True, max_length=200)),
                ('dispatched_at', models.DateTimeField(blank=True, null=True)),
                ('not_before', models.DateTimeField(blank=True, null=True)),
                ('error_count', models.PositiveIntegerField(default=0)),
                ('rate', models.FloatField(default=0)),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='lanes', to='dashboard.run')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('is_done', False)), fields=['run', 'number'], name='lane_open')],
                'constraints': [models.UniqueConstraint(fields=('run', 'number'), name='lane_run_number')],
            },
        ),
        migrations.CreateModel(
            name='RunEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('running', 'Running'), ('pausing', 'Pausing'), ('paused', 'Paused'), ('cancelling', 'Cancelling'), ('cancelled', 'Cancelled'), ('finished', 'Finished'), ('failed', 'Failed')], max_length=10)),
                ('actor', models.CharField(max_length=150)),
                ('note', models.TextField(blank=True)),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='dashboard.run')),
            ],
            options={
                'indexes': [models.Index(fields=['run', 'id'], name='run_event_run')],
            },
        ),
    ]
