from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dlq', '0007_open_attempts'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='deadletter',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['first_failed_at', 'id'], name='letter_open_oldest'),
        ),
    ]
