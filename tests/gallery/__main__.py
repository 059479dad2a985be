import json
import os
import re
import sys
from pathlib import Path

import django

from tests.servers import ENVIRONMENT

SCHEMES = ("light", "dark")
SIZES = {1440: 900, 380: 800}
ADDRESS = "http://gallery/"
TEXT = re.compile(r">([^<>]+)<")
# A name, a number, a time: another one is not another state.
VALUE = re.compile(r"\S*[\d_/@-]\S*")


def main(folder: Path) -> None:
    from tests.gallery.branches import list_branches

    pages = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    seen = {branch for page in pages.values() for branch in page["branches"]}
    for branch in sorted(set(list_branches()) - seen):
        print(f"No page took {branch}")
    chosen = choose({name: find_features(folder, name, page) for name, page in pages.items()})
    photograph(folder, chosen)
    print(f"{len(chosen)} of {len(pages)} pages show everything: {folder}/*.png")


def find_features(folder: Path, name: str, page: dict[str, list[str]]) -> set[str]:
    """What a page shows: the branches it took, and its words without values."""
    path = folder / f"{name}.html"
    if not path.exists():
        return set()
    # A payload may be one word of a megabyte.
    texts = (text.strip()[:200] for text in TEXT.findall(path.read_text()))
    return {*page["branches"], *(VALUE.sub("#", text) for text in texts)}


def choose(features: dict[str, set[str]]) -> list[str]:
    """Few pages that show together what all show: always the one next that adds most."""
    left = set().union(*features.values())
    chosen = []
    while left:
        best = max(features, key=lambda name: len(features[name] & left))
        left -= features[best]
        chosen.append(best)
    return chosen


def photograph(folder: Path, names: list[str]) -> None:
    from django.contrib.staticfiles import finders
    from playwright.sync_api import Route, sync_playwright

    from tests.browser.conftest import FLAGS, find_chromium
    from tests.browser.test_every_page import find_faults

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(ADDRESS).partition("?")[0]
        found = finders.find(path.removeprefix("static/")) if path.startswith("static/") else folder / path
        if found and Path(found).is_file():
            route.fulfill(path=found)
        else:
            route.abort()

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        page = browser.new_page(reduced_motion="reduce")
        page.route("**/*", answer)
        for name in names:
            for fault in find_faults(page, f"{ADDRESS}{name}.html"):
                print(f"{name}.html {fault}")
            for width, height in SIZES.items():
                page.set_viewport_size({"width": width, "height": height})
                for scheme in SCHEMES:
                    page.emulate_media(color_scheme=scheme)
                    page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
        browser.close()


if __name__ == "__main__":
    os.environ |= ENVIRONMENT | {"DJANGO_SETTINGS_MODULE": "dashboard.settings"}
    django.setup()
    main(Path(sys.argv[1]).absolute())
