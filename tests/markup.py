"""A page as a browser takes it: line breaks between elements mean nothing."""

import re

from django.http import HttpResponse

BREAKS = re.compile(r">\s*\n\s*<")


def read_html(answer: HttpResponse) -> str:
    return BREAKS.sub("><", answer.content.decode())
