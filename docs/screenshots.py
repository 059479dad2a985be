"""Takes the README's screenshots, light and dark, of a console that runs.

python3 manage.py test                                     # installs what drives the browser
python3 manage.py up                                       # in one terminal, and wait a minute for the demo to live
.venv/bin/python docs/screenshots.py "$(python3 manage.py login_link)"
"""

import argparse
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent / "screenshots"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
# As in a container: as root, without a screen.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SIZE = {"width": 1440, "height": 1000}
PAGES = {
    "groups": "/dead-letters/",
    "projections": "/projections/",
    "breakers": "/breakers/",
    "runs": "/runs/",
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Take the README's screenshots of a console that runs.")
    parser.add_argument("link", help="a link as `manage.py login_link` prints it; it is good once")
    parser.add_argument("--to", type=Path, default=HERE, help=f"where to put them ({HERE})")
    asked = parser.parse_args()
    asked.to.mkdir(parents=True, exist_ok=True)
    chromium = os.environ.get("REDRIVE_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM_NAMES)))
    address = urlsplit(asked.link)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(base_url=f"{address.scheme}://{address.netloc}", viewport=SIZE)
        page.goto(asked.link)
        page.get_by_role("button").click()
        page.wait_for_url("**/")
        for name in visit(page):
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                page.screenshot(path=asked.to / f"{name}-{scheme}.png")
                print(f"{name}-{scheme}.png")
        browser.close()


def visit(page: Page) -> Iterator[str]:
    """Go from page to page as somebody on call would; gives each one's name."""
    page.goto("/")
    yield "overview"
    for name, path in PAGES.items():
        page.goto(path)
        yield name
    # The worst group and a projection, if there are any. No letter: its stack trace names whose machine it is.
    for name, path in (("group", "/dead-letters/"), ("projection", "/projections/")):
        page.goto(path)
        row = page.locator("tbody tr a").first
        if row.count():
            row.click()
            page.wait_for_load_state()
            yield name


if __name__ == "__main__":
    main()
