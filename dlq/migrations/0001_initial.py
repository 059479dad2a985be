import django.contrib.postgres.indexes
import django.contrib.postgres.search
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
            name='ClassificationRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('priority', models.IntegerField(default=100)),
                ('error_type', models.TextField(blank=True)),
                ('http_status', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('message_pattern', models.CharField(blank=True, max_length=200)),
                ('consumer', models.TextField(blank=True)),
                ('event_type', models.TextField(blank=True)),
                ('category', models.TextField(choices=[('transient', 'Transient'), ('permanent', 'Permanent'), ('poison', 'Poison'), ('dependency', 'Dependency'), ('infrastructure', 'Infrastructure')])),
                ('offers_replay', models.BooleanField(default=True)),
                ('is_security', models.BooleanField(default=False)),
                ('runbook', models.TextField(blank=True)),
                ('added_by', models.CharField(max_length=150)),
                ('added_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'ordering': ['priority', 'id'],
            },
        ),
        migrations.CreateModel(
            name='LetterRunItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('lane', models.IntegerField()),
                ('position', models.BigIntegerField(blank=True, null=True)),
                ('outcome', models.TextField(blank=True)),
                ('is_active', models.BooleanField(default=True)),
                ('rung', models.SmallIntegerField(db_default=0)),
                ('deaths', models.SmallIntegerField(db_default=0)),
                ('note', models.TextField(blank=True, db_default='')),
                ('at', models.DateTimeField(blank=True, null=True)),
                ('run', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, to='dashboard.run')),
            ],
        ),
        migrations.CreateModel(
            name='CounterDelta',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.TextField()),
                ('consumer', models.TextField()),
                ('group_id', models.BigIntegerField()),
                ('error_type', models.TextField()),
                ('category', models.TextField()),
                ('tier', models.TextField()),
                ('status', models.TextField()),
                ('number', models.BigIntegerField()),
                ('first_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='DeadLetter',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.TextField()),
                ('source_key', models.TextField(blank=True)),
                ('consumer', models.TextField()),
                ('event_id', models.TextField()),
                ('event_type', models.TextField(blank=True)),
                ('sequence_key', models.TextField(blank=True)),
                ('sequence_no', models.BigIntegerField(default=0)),
                ('position', models.BigIntegerField(blank=True, null=True)),
                ('topic', models.TextField(blank=True)),
                ('partition', models.IntegerField(blank=True, null=True)),
                ('offset', models.BigIntegerField(blank=True, null=True)),
                ('error_type', models.TextField(blank=True)),
                ('summary', models.TextField(blank=True)),
                ('mask_key', models.IntegerField(default=0)),
                ('category', models.TextField(blank=True, choices=[('transient', 'Transient'), ('permanent', 'Permanent'), ('poison', 'Poison'), ('dependency', 'Dependency'), ('infrastructure', 'Infrastructure')])),
                ('classified_by', models.TextField(blank=True)),
                ('is_security', models.BooleanField(default=False)),
                ('offers_replay', models.BooleanField(default=True)),
                ('attempts', models.IntegerField(default=0)),
                ('replays', models.IntegerField(default=0)),
                ('first_failed_at', models.DateTimeField()),
                ('last_failed_at', models.DateTimeField()),
                ('status', models.TextField(choices=[('failed', 'Failed'), ('parked', 'Parked'), ('resolved', 'Resolved'), ('discarded', 'Discarded')], default='failed')),
                ('tier', models.TextField(choices=[('dead_letter', 'Dead letter'), ('poison', 'Poison')], default='dead_letter')),
                ('resolution', models.TextField(blank=True, choices=[('replayed', 'Replayed'), ('by_hand', 'By hand'), ('at_source', 'At its source'), ('rebuilt', 'Rebuilt'), ('discarded', 'Discarded')])),
                ('closed_by', models.TextField(blank=True)),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('close_reason', models.TextField(blank=True)),
                ('trace_id', models.TextField(blank=True)),
                ('tenant', models.TextField(blank=True)),
                ('app_version', models.TextField(blank=True)),
                ('recorded_at', models.DateTimeField()),
                ('erased_at', models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='DepthSample',
            fields=[
                ('at', models.DateTimeField(primary_key=True, serialize=False)),
                ('open_count', models.BigIntegerField()),
                ('by_attempts', models.JSONField(default=dict)),
                ('left_count', models.BigIntegerField(db_default=0)),
                ('left_letter_id', models.BigIntegerField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Facet',
            fields=[
                ('pk', models.CompositePrimaryKey('kind', 'value', blank=True, editable=False, primary_key=True, serialize=False)),
                ('kind', models.TextField(choices=[('source', 'Source'), ('consumer', 'Consumer'), ('event_type', 'Event Type'), ('error_type', 'Error Type'), ('tenant', 'Tenant'), ('app_version', 'App Version')])),
                ('value', models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name='FailureGroup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fingerprint', models.CharField(max_length=40)),
                ('error_key', models.CharField(max_length=40)),
                ('source', models.TextField()),
                ('consumer', models.TextField()),
                ('error_type', models.TextField()),
                ('normal_message', models.TextField(blank=True)),
                ('frame', models.TextField(blank=True)),
                ('title', models.TextField()),
                ('mask_key', models.IntegerField(default=0)),
                ('category', models.TextField(choices=[('transient', 'Transient'), ('permanent', 'Permanent'), ('poison', 'Poison'), ('dependency', 'Dependency'), ('infrastructure', 'Infrastructure')])),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('is_muted', models.BooleanField(default=False)),
                ('muted_until', models.DateTimeField(blank=True, null=True)),
                ('resolved_at', models.DateTimeField(blank=True, null=True)),
                ('regressed_at', models.DateTimeField(blank=True, null=True)),
                ('assignee', models.CharField(blank=True, max_length=150)),
                ('note', models.TextField(blank=True)),
                ('ticket', models.URLField(blank=True, max_length=500)),
                ('retired_at', models.DateTimeField(blank=True, null=True)),
                ('blocked_sequence_count', models.IntegerField(default=0)),
                ('parked_count', models.IntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='GroupFacet',
            fields=[
                ('pk', models.CompositePrimaryKey('group_id', 'kind', 'value', blank=True, editable=False, primary_key=True, serialize=False)),
                ('group_id', models.BigIntegerField()),
                ('kind', models.TextField(choices=[('source', 'Source'), ('consumer', 'Consumer'), ('event_type', 'Event Type'), ('error_type', 'Error Type'), ('tenant', 'Tenant'), ('app_version', 'App Version')])),
                ('value', models.TextField()),
                ('first_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Override',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.TextField()),
                ('consumer', models.TextField()),
                ('event_id', models.TextField()),
                ('kind', models.TextField(choices=[('skipped', 'Skipped'), ('discarded', 'Discarded'), ('replaced', 'Replaced')])),
                ('payload', models.JSONField(blank=True, null=True)),
                ('actor', models.TextField()),
                ('reason', models.TextField(blank=True)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='ReplaySwitch',
            fields=[
                ('id', models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('stopped_by', models.TextField()),
                ('stopped_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('reason', models.TextField(blank=True)),
            ],
        ),
        migrations.CreateModel(
            name='CategoryBucket',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('starts_at', models.DateTimeField()),
                ('category', models.TextField()),
                ('number', models.BigIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('starts_at', 'category'), name='category_bucket_key')],
            },
        ),
        migrations.CreateModel(
            name='Confirmation',
            fields=[
                ('item', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='confirmation', serialize=False, to='dlq.letterrunitem')),
                ('outcome', models.TextField(choices=[('succeeded', 'Succeeded'), ('failed', 'Failed')])),
                ('error_type', models.TextField(blank=True)),
                ('error_message', models.TextField(blank=True)),
                ('stacktrace', models.TextField(blank=True)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='Counter',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.TextField()),
                ('consumer', models.TextField()),
                ('group_id', models.BigIntegerField()),
                ('error_type', models.TextField()),
                ('category', models.TextField()),
                ('tier', models.TextField()),
                ('status', models.TextField()),
                ('number', models.BigIntegerField()),
                ('first_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['group_id'], name='counter_group')],
                'constraints': [models.UniqueConstraint(fields=('source', 'consumer', 'group_id', 'error_type', 'category', 'tier', 'status'), name='counter_key')],
            },
        ),
        migrations.CreateModel(
            name='LetterBody',
            fields=[
                ('letter', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='body', serialize=False, to='dlq.deadletter')),
                ('payload', models.JSONField(blank=True, null=True)),
                ('payload_raw', models.BinaryField(blank=True, null=True)),
                ('payload_size', models.BigIntegerField(default=0)),
                ('headers', models.JSONField(default=dict)),
                ('error_message', models.TextField(blank=True)),
                ('masked_message', models.TextField(blank=True, null=True)),
                ('stacktrace', models.TextField(blank=True)),
                ('words', django.contrib.postgres.search.SearchVectorField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name='letterrunitem',
            name='letter',
            field=models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, to='dlq.deadletter'),
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('pk', models.CompositePrimaryKey('letter', 'at', blank=True, editable=False, primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('duration_ms', models.IntegerField(blank=True, null=True)),
                ('outcome', models.TextField(choices=[('failed', 'Failed'), ('succeeded', 'Succeeded')], default='failed')),
                ('error_type', models.TextField(blank=True)),
                ('error_message', models.TextField(blank=True)),
                ('category', models.TextField(blank=True, choices=[('transient', 'Transient'), ('permanent', 'Permanent'), ('poison', 'Poison'), ('dependency', 'Dependency'), ('infrastructure', 'Infrastructure')])),
                ('run', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, to='dashboard.run')),
                ('letter', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='tries', to='dlq.deadletter')),
            ],
        ),
        migrations.CreateModel(
            name='FailureBucket',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('starts_at', models.DateTimeField()),
                ('width', models.TextField(choices=[('raw', 'Raw'), ('minute', 'Minute'), ('hour', 'Hour')])),
                ('source', models.TextField()),
                ('consumer', models.TextField()),
                ('group_id', models.BigIntegerField()),
                ('category', models.TextField()),
                ('number', models.BigIntegerField()),
            ],
            options={
                'indexes': [models.Index(fields=['group_id', 'starts_at'], include=('number',), name='bucket_group'), models.Index(fields=['starts_at'], name='bucket_time'), models.Index(condition=models.Q(('width', 'raw')), fields=['id'], name='bucket_raw')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('width', 'raw'), _negated=True), fields=('starts_at', 'width', 'source', 'consumer', 'group_id', 'category'), name='bucket_key')],
            },
        ),
        migrations.AddField(
            model_name='letterrunitem',
            name='group',
            field=models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, to='dlq.failuregroup'),
        ),
        migrations.AddIndex(
            model_name='failuregroup',
            index=models.Index(fields=['error_key'], name='group_error_key'),
        ),
        migrations.AddIndex(
            model_name='failuregroup',
            index=models.Index(fields=['created_at'], name='group_created'),
        ),
        migrations.AddIndex(
            model_name='failuregroup',
            index=models.Index(condition=models.Q(('regressed_at__isnull', False)), fields=['regressed_at'], name='group_regressed'),
        ),
        migrations.AddIndex(
            model_name='failuregroup',
            index=models.Index(condition=models.Q(('is_muted', True)), fields=['id'], name='group_muted'),
        ),
        migrations.AddConstraint(
            model_name='failuregroup',
            constraint=models.UniqueConstraint(fields=('fingerprint',), name='group_fingerprint'),
        ),
        migrations.AddField(
            model_name='deadletter',
            name='group',
            field=models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, to='dlq.failuregroup'),
        ),
        migrations.AddField(
            model_name='attempt',
            name='group',
            field=models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, to='dlq.failuregroup'),
        ),
        migrations.AddConstraint(
            model_name='override',
            constraint=models.UniqueConstraint(fields=('event_id', 'consumer', 'source'), name='override_key'),
        ),
        migrations.AddIndex(
            model_name='letterbody',
            index=django.contrib.postgres.indexes.GinIndex(fields=['words'], name='body_words'),
        ),
        migrations.AddIndex(
            model_name='letterbody',
            index=django.contrib.postgres.indexes.GinIndex(fields=['payload'], name='body_payload', opclasses=['jsonb_path_ops']),
        ),
        migrations.AddIndex(
            model_name='letterrunitem',
            index=models.Index(condition=models.Q(('is_active', True)), fields=['run', 'lane', 'id'], name='item_waiting'),
        ),
        migrations.AddIndex(
            model_name='letterrunitem',
            index=models.Index(fields=['run', 'outcome', 'id'], name='item_outcome'),
        ),
        migrations.AddIndex(
            model_name='letterrunitem',
            index=models.Index(condition=models.Q(('is_active', True), ('outcome', 'sent')), fields=['run', 'lane', 'id'], name='item_sent'),
        ),
        migrations.AddIndex(
            model_name='letterrunitem',
            index=models.Index(fields=['letter'], name='item_letter'),
        ),
        migrations.AddConstraint(
            model_name='letterrunitem',
            constraint=models.UniqueConstraint(condition=models.Q(('is_active', True)), fields=('letter',), name='item_one_active_run'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['last_failed_at', 'id', 'attempts'], name='letter_open_time'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['source', 'last_failed_at', 'id'], name='letter_open_source'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['consumer', 'last_failed_at', 'id'], name='letter_open_consumer'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['group', 'last_failed_at', 'id'], name='letter_open_group'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['event_type', 'last_failed_at', 'id'], name='letter_open_event_type'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['error_type', 'last_failed_at', 'id'], name='letter_open_error_type'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['category', 'last_failed_at', 'id'], name='letter_open_category'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['tenant', 'last_failed_at', 'id'], name='letter_open_tenant'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['attempts'], name='letter_open_attempts'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['first_failed_at', 'id'], name='letter_open_oldest'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(fields=['last_failed_at', 'id'], name='letter_time'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(fields=['source', 'last_failed_at', 'id'], name='letter_source'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(fields=['consumer', 'last_failed_at', 'id'], name='letter_consumer'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(fields=['group', 'last_failed_at', 'id'], name='letter_group'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(fields=['event_type', 'last_failed_at', 'id'], name='letter_event_type'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(fields=['error_type', 'last_failed_at', 'id'], name='letter_error_type'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('tenant', ''), _negated=True), fields=['tenant', 'last_failed_at', 'id'], name='letter_tenant'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('sequence_key', ''), _negated=True), fields=['sequence_key', 'consumer', 'source', 'sequence_no', 'id'], name='letter_sequence'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('status__in', ['failed', 'parked']), models.Q(('sequence_key', ''), _negated=True)), fields=['sequence_key', 'consumer', 'source', 'sequence_no', 'id'], name='letter_unsettled'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('trace_id', ''), _negated=True), fields=['trace_id'], name='letter_trace'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('tier', 'poison')), fields=['last_failed_at', 'id'], name='letter_poison'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('status', 'parked')), fields=['last_failed_at', 'id'], name='letter_parked'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('status', 'discarded')), fields=['last_failed_at', 'id'], name='letter_discarded'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(fields=['category', 'last_failed_at', 'id'], name='letter_category'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('attempts__gt', 1)), fields=['attempts', 'last_failed_at', 'id'], name='letter_retried'),
        ),
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('closed_at__isnull', False)), fields=['closed_at'], name='letter_closed'),
        ),
        migrations.AddConstraint(
            model_name='deadletter',
            constraint=models.UniqueConstraint(fields=('event_id', 'consumer', 'source'), name='letter_key'),
        ),
    ]
