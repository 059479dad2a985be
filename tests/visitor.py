"""A visitor without a browser: cookies, forms with their CSRF tokens, no JavaScript."""

import http.client
import urllib.error
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from typing import Self


class _StayHere(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer, not an instruction."""

    def redirect_request(self, *_: object) -> None:
        return None


class Visitor:
    def __init__(self, console: str) -> None:
        self.console = console
        self.cookies = CookieJar()
        self.opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(self.cookies), _StayHere()
        )

    def sign_in(self, username: str, password: str) -> Self:
        assert self.post("/login/", username=username, password=password) == 302
        return self

    def get(self, path: str) -> tuple[int, str]:
        try:
            with self.opener.open(f"{self.console}{path}", timeout=30) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def post(self, path: str, **fields: str) -> int | None:
        """Send a form; gives the status, or None if the connection broke before an answer."""
        fields["csrfmiddlewaretoken"] = self.csrf_token()
        try:
            return self.opener.open(
                f"{self.console}{path}", urllib.parse.urlencode(fields).encode(), timeout=30
            ).status
        except urllib.error.HTTPError as error:
            return error.code
        except (http.client.HTTPException, OSError):
            return None

    def csrf_token(self) -> str:
        if not any(cookie.name == "redrive_csrf" for cookie in self.cookies):
            self.get("/login/")
        return next(cookie.value or "" for cookie in self.cookies if cookie.name == "redrive_csrf")
