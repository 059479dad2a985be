from django.contrib import admin
from django.urls import path

from dlq.models import DeadLetter


@admin.register(DeadLetter)
class LetterAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = [
        "summary",
        "consumer",
        "event_type",
        "status",
        "sequence_key",
        "attempts",
        "first_failed_at",
        "last_failed_at",
    ]
    list_filter = ["status", "source", "consumer", "event_type", "category", "error_type", "tier"]
    search_fields = ["summary"]
    ordering = ["-last_failed_at"]
    list_per_page = 50


urlpatterns = [path("", admin.site.urls)]
