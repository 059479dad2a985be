from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sources", "0003_owed_writes")]

    operations = [
        migrations.AddField(
            model_name="foreignrow",
            name="retrying_since",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="foreignrow",
            name="asked_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="foreignrow",
            name="asked_failed_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="foreignrow",
            name="asked_attempts",
            field=models.IntegerField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name="foreignrow",
            index=models.Index(
                condition=models.Q(("retrying_since__isnull", False)),
                fields=["source", "retrying_since"],
                name="foreignrow_retrying",
            ),
        ),
        migrations.CreateModel(
            name="OwedRelease",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("source", models.TextField()),
                ("key", models.TextField()),
                ("retrying_since", models.DateTimeField()),
                ("actor", models.TextField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("source", "key"), name="owedrelease_once"),
                ],
            },
        ),
    ]
