import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('dashboard', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='EventType',
            fields=[
                ('name', models.TextField(primary_key=True, serialize=False)),
                ('number', models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('position', models.BigIntegerField(primary_key=True, serialize=False)),
                ('event_id', models.UUIDField()),
                ('stream', models.TextField()),
                ('version', models.BigIntegerField()),
                ('type', models.TextField()),
                ('type_no', models.BigIntegerField()),
                ('data', models.JSONField()),
                ('metadata', models.JSONField(default=dict)),
                ('recorded_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['type', 'position'], name='event_type_position')],
                'constraints': [models.UniqueConstraint(fields=('event_id',), name='event_event_id'), models.UniqueConstraint(fields=('stream', 'version'), name='event_stream_version')],
            },
        ),
        migrations.CreateModel(
            name='ForeignProjection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.TextField()),
                ('name', models.TextField()),
                ('read_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('has_checkpoint', models.BooleanField(default=True)),
                ('checkpoint', models.TextField(blank=True)),
                ('position', models.BigIntegerField(blank=True, null=True)),
                ('stamp', models.TextField(blank=True)),
                ('head', models.BigIntegerField(blank=True, null=True)),
                ('last_event_id', models.TextField(blank=True)),
                ('last_event_type', models.TextField(blank=True)),
                ('written_at', models.DateTimeField(blank=True, null=True)),
                ('moved_at', models.DateTimeField(blank=True, null=True)),
                ('lag', models.BigIntegerField(blank=True, null=True)),
                ('lag_bound', models.TextField(blank=True, choices=[('', 'exactly'), ('at_most', 'at most'), ('at_least', 'at least')], default='')),
                ('lag_note', models.TextField(blank=True)),
                ('oldest_at', models.DateTimeField(blank=True, null=True)),
                ('state', models.TextField(choices=[('running', 'Running'), ('stalled', 'Stalled'), ('stopped', 'Stopped'), ('unknown', 'Unknown')], default='unknown')),
                ('state_since', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('evidence', models.TextField(blank=True)),
                ('worker', models.TextField(blank=True)),
                ('worker_seen_at', models.DateTimeField(blank=True, null=True)),
                ('unaccounted', models.JSONField(blank=True, default=dict)),
                ('reset', models.JSONField(blank=True, default=dict)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('source', 'name'), name='foreign_projection_key')],
            },
        ),
        migrations.CreateModel(
            name='Head',
            fields=[
                ('id', models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('position', models.BigIntegerField(default=0)),
                ('recorded_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='head_is_one_row')],
            },
        ),
        migrations.CreateModel(
            name='Projection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.TextField(default='native')),
                ('name', models.TextField()),
                ('event_types', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                ('policy', models.TextField(blank=True)),
                ('criticality', models.TextField(choices=[('ledger', 'Ledger'), ('standard', 'Standard'), ('best_effort', 'Best effort')], default='standard')),
                ('effects', models.TextField(choices=[('database', 'Database'), ('external', 'External')], default='database')),
                ('grace_seconds', models.FloatField(default=0)),
                ('runbook', models.TextField(blank=True)),
                ('state', models.TextField(choices=[('running', 'Running'), ('paused', 'Paused'), ('stopped', 'Stopped'), ('rebuilding', 'Rebuilding')], default='running')),
                ('state_since', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('position', models.BigIntegerField(default=0)),
                ('last_event_id', models.UUIDField(blank=True, null=True)),
                ('last_event_type', models.TextField(blank=True)),
                ('last_event_at', models.DateTimeField(blank=True, null=True)),
                ('last_processed_at', models.DateTimeField(blank=True, null=True)),
                ('seen_count', models.BigIntegerField(default=0)),
                ('accounting_from', models.BigIntegerField(default=0)),
                ('accounting', models.JSONField(blank=True, default=dict)),
                ('block', models.TextField(blank=True, choices=[('retry', 'Retry'), ('fatal', 'Fatal'), ('infrastructure', 'Infrastructure'), ('breaker', 'Breaker')])),
                ('blocked_since', models.DateTimeField(blank=True, null=True)),
                ('attempt', models.IntegerField(default=0)),
                ('next_at', models.DateTimeField(blank=True, null=True)),
                ('error_type', models.TextField(blank=True)),
                ('error_message', models.TextField(blank=True)),
                ('stacktrace', models.TextField(blank=True)),
                ('tries', models.JSONField(blank=True, default=list)),
                ('trial_by', models.UUIDField(blank=True, null=True)),
                ('trial_at', models.DateTimeField(blank=True, null=True)),
                ('trial_to', models.BigIntegerField(default=0)),
                ('careful_to', models.BigIntegerField(default=0)),
                ('deaths', models.IntegerField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('source', 'name'), name='projection_key')],
            },
        ),
        migrations.CreateModel(
            name='ForeignSample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('head', models.BigIntegerField(blank=True, null=True)),
                ('position', models.BigIntegerField(blank=True, null=True)),
                ('lag', models.BigIntegerField()),
                ('projection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='samples', to='projections.foreignprojection')),
            ],
            options={
                'indexes': [models.Index(fields=['at'], name='foreign_sample_time')],
                'constraints': [models.UniqueConstraint(fields=('projection', 'at'), name='foreign_sample_key')],
            },
        ),
        migrations.CreateModel(
            name='Pace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('starts_at', models.DateTimeField()),
                ('processed', models.BigIntegerField(default=0)),
                ('ignored', models.BigIntegerField(default=0)),
                ('failed', models.BigIntegerField(default=0)),
                ('retried', models.BigIntegerField(default=0)),
                ('skipped', models.BigIntegerField(default=0)),
                ('dead_lettered', models.BigIntegerField(default=0)),
                ('parked', models.BigIntegerField(default=0)),
                ('fatal', models.BigIntegerField(default=0)),
                ('projection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='paces', to='projections.projection')),
            ],
            options={
                'indexes': [models.Index(fields=['starts_at'], name='pace_time')],
                'constraints': [models.UniqueConstraint(fields=('projection', 'starts_at'), name='pace_key')],
            },
        ),
        migrations.CreateModel(
            name='LagSample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('head', models.BigIntegerField()),
                ('position', models.BigIntegerField()),
                ('lag', models.BigIntegerField()),
                ('projection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='samples', to='projections.projection')),
            ],
            options={
                'indexes': [models.Index(fields=['at'], name='lag_sample_time')],
                'constraints': [models.UniqueConstraint(fields=('projection', 'at'), name='lag_sample_key')],
            },
        ),
        migrations.CreateModel(
            name='RebuildRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.TextField(choices=[('open', 'Open'), ('granted', 'Granted'), ('denied', 'Denied'), ('expired', 'Expired')], default='open')),
                ('requested_by', models.TextField()),
                ('requested_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('expires_at', models.DateTimeField()),
                ('reason', models.TextField()),
                ('decided_by', models.TextField(blank=True)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('decision_reason', models.TextField(blank=True)),
                ('projection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='requests', to='projections.projection')),
                ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='dashboard.run')),
            ],
            options={
                'indexes': [models.Index(fields=['-requested_at', '-id'], name='request_at')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'open')), fields=('projection',), name='request_one_open')],
            },
        ),
        migrations.CreateModel(
            name='Skip',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.BigIntegerField()),
                ('event_id', models.UUIDField()),
                ('event_type', models.TextField()),
                ('stream', models.TextField()),
                ('actor', models.TextField()),
                ('reason', models.TextField()),
                ('error_type', models.TextField(blank=True)),
                ('error_message', models.TextField(blank=True)),
                ('stacktrace', models.TextField(blank=True)),
                ('attempt', models.IntegerField(default=0)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('projection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='skips', to='projections.projection')),
            ],
            options={
                'indexes': [models.Index(fields=['-at', '-id'], name='skip_at'), models.Index(fields=['projection', '-at', '-id'], name='skip_projection_at')],
                'constraints': [models.UniqueConstraint(fields=('projection', 'position'), name='skip_key')],
            },
        ),
        migrations.CreateModel(
            name='Span',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('first', models.BigIntegerField()),
                ('last', models.BigIntegerField()),
                ('ignored_count', models.BigIntegerField(default=0)),
                ('closed_count', models.BigIntegerField(default=0)),
                ('skipped_count', models.BigIntegerField(default=0)),
                ('projection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='spans', to='projections.projection')),
            ],
            options={
                'indexes': [models.Index(fields=['projection', 'first'], name='span_projection')],
            },
        ),
        migrations.CreateModel(
            name='WaitingEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.BigIntegerField()),
                ('stream', models.TextField()),
                ('breaker', models.TextField(blank=True)),
                ('since', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('next_at', models.DateTimeField(blank=True, null=True)),
                ('attempt', models.IntegerField(default=0)),
                ('tries', models.JSONField(blank=True, default=list)),
                ('deaths', models.IntegerField(default=0)),
                ('projection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='waiting', to='projections.projection')),
            ],
            options={
                'indexes': [models.Index(fields=['projection', 'stream', 'position'], name='waiting_stream')],
                'constraints': [models.UniqueConstraint(fields=('projection', 'position'), name='waiting_key')],
            },
        ),
    ]
