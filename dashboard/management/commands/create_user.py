import getpass
import sys
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.access import operations
from dashboard.actions import ROLES, VIEWER


class Command(BaseCommand):
    help = "Create a user with a role; the password is asked for, or read from standard input."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--role", choices=ROLES, default=VIEWER)

    def handle(self, *args: Any, **options: Any) -> None:
        user = User(username=options["username"])
        try:
            user.clean_fields(exclude=["password"])
            user.validate_unique()
            password = getpass.getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
            validate_password(password, user)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        operations.create_user(
            options["username"], role=options["role"], password=password, actor="command line"
        )
        self.stdout.write(f"Created {options['username']}, {options['role']}.")
