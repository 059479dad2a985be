from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projections", "0003_foreign_worker")]

    operations = [
        migrations.AddField("span", "skipped_count", models.BigIntegerField(default=0)),
    ]
