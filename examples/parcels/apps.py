from django.apps import AppConfig


class ParcelsConfig(AppConfig):
    name = "examples.parcels"
    label = "parcels"
