"""The two ways to refuse: a whole request, or one of its items."""

from collections.abc import Mapping

from django.http import JsonResponse


class RefusedError(Exception):
    """Nothing of the request was recorded; says why, and what would be taken."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = headers

    def to_response(self) -> JsonResponse:
        return JsonResponse({"error": str(self)}, status=self.status, headers=self.headers)


class BadItemError(Exception):
    """This item is refused, and the others of its request are not."""
