"""Every page of a console that has seen something, and of an empty one: nothing to complain about, for anybody.

One walk asks everything of a page, since going there takes longest: no script error and no broken policy (the `page`
fixture sees to that), no sideways scrolling on a wide, a half as wide and a narrow screen, and no serious violation
that axe-core knows, in light and dark.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from tests.addresses import SAMPLES, list_addresses
from tests.lived_in import live_in

AXE = (Path(__file__).parent / "vendor" / "axe-core-4.14.0.min.js").read_text()
# The second look is for the other colours only.
FIND_VIOLATIONS = """
async (rules) => {
    const only = rules.length ? { runOnly: { type: "rule", values: rules } } : {};
    const found = await axe.run(document, { ...only, resultTypes: ["violations"] });
    return found.violations
        .filter((one) => ["serious", "critical"].includes(one.impact))
        .map((one) => `${one.id}: ${one.help}: ` + one.nodes.map((node) => node.html).slice(0, 3).join(" and "));
}
"""
# A box that scrolls, or hides what does not fit, tells nothing of a button beyond its edge.
FIND_CUT_OFF = """
() => [...document.querySelectorAll("main .verbs :is(.btn, button)")]
    .filter((one) => one.offsetParent && one.getBoundingClientRect().right > document.documentElement.clientWidth)
    .map((one) => one.innerText)
"""
NOT_FOUND = "/no-such-page"
# Pages that show something else for these values.
MORE = (
    "/?range=7d",
    "/breakers/breaker/?name=orders-api",
    "/breakers/breaker/trip/confirm/?name=mail",
    "/breakers/breaker/reset/confirm/?name=mail",
    "/dead-letters/?tab=poison",
    "/dead-letters/letters/?status=any",
    "/dead-letters/letters/?consumer=nobody",
    "/dead-letters/discard/confirm/?scope=matching",
    "/dead-letters/replay/confirm/?scope=matching",
    "/runs/?state=paused",
    NOT_FOUND,
)


def list_pages(page: Page, values: Mapping[str, str]) -> Iterator[str]:
    """Every address that is a page: not the verbs', not downloads, and of what there is not only one."""
    more = MORE if values != SAMPLES else ()
    for path in [*(path for path, _ in list_addresses(values)), *more]:
        answer = page.request.get(path)
        is_page = answer.status in (200, 400, 403) or path == NOT_FOUND
        if is_page and "text/html" in answer.headers["content-type"]:
            yield path


def find_faults(page: Page, path: str) -> Iterator[str]:
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(path)
    expect(page.locator("h1").first).to_be_visible()
    page.evaluate(AXE)
    yield from page.evaluate(FIND_VIOLATIONS, [])
    yield from find_overflow(page, 1440)
    page.emulate_media(color_scheme="dark")
    yield from (f"dark: {found}" for found in page.evaluate(FIND_VIOLATIONS, ["color-contrast"]))
    # A desktop at a zoom of 200 %, where tables scroll in boxes of their own.
    page.set_viewport_size({"width": 720, "height": 450})
    yield from find_sideways(page, 720)
    page.set_viewport_size({"width": 380, "height": 800})
    yield from find_overflow(page, 380)


def find_sideways(page: Page, width: int) -> Iterator[str]:
    if page.evaluate("document.documentElement.scrollWidth") > width:
        yield f"scrolls sideways at {width}"


def find_overflow(page: Page, width: int) -> Iterator[str]:
    yield from find_sideways(page, width)
    yield from (f"cuts off {text!r} at {width}" for text in page.evaluate(FIND_CUT_OFF))


@pytest.mark.parametrize("is_lived_in", [True, False], ids=["lived in", "empty"])
def test_every_page(
    sign_in_as: Callable[[str], Page], make_user: Callable[..., User], is_lived_in: bool
) -> None:
    page = sign_in_as("admin")
    values: Any = live_in(make_user("ada", "operator")) if is_lived_in else SAMPLES
    faults = [f"{path}: {fault}" for path in list_pages(page, values) for fault in find_faults(page, path)]
    assert not faults, "\n".join(faults)
