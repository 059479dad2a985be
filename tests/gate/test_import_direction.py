"""Imports run one way: urls → views → queries, operations, tables → tasks → models; sections meet in api.py."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GROUND = "dashboard"
SECTIONS = {"dlq", "projections", "breakers", "sources", "alerts"}
# What is above may import what is below, and what stands beside it.
LAYERS = {
    5: ["apps", "management", "urls"],
    4: ["views"],
    3: [
        "charts",
        "columns",
        "exports",
        "filters",
        "lines",
        "needs",
        "operations",
        "preview",
        "queries",
        "selection",
        "tables",
        "templatetags",
        "tiles",
    ],
    2: ["tasks"],
    1: [],  # everything that is not named
    0: ["models"],
}
LAYER_OF = {name: number for number, names in LAYERS.items() for name in names}
# The overview alone looks at all sections, and the project's urls name them.
LOOKS_AT_ALL = {"dashboard.overview", "dashboard.urls"}


def list_modules() -> Iterator[tuple[str, Path]]:
    for package in sorted({GROUND, *SECTIONS}):
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts:
                parts = path.relative_to(ROOT).with_suffix("").parts
                yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def list_imports(path: Path) -> Iterator[str]:
    """Every name that the file imports; `from a.b import c` may mean a.b.c, so both are given."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def layer(module: str) -> int:
    return next((LAYER_OF[part] for part in module.split(".")[1:] if part in LAYER_OF), 1)


def looks_at_all(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in LOOKS_AT_ALL)


def describe_crossing(module: str, imported: str) -> str:
    """What is wrong with it, if the two are of different sections; "" if nothing is."""
    own, (section, _, rest) = module.partition(".")[0], imported.partition(".")
    if section not in SECTIONS - {own} or looks_at_all(module):
        return ""
    if own == GROUND:
        return f"{module} is the ground floor and imports {imported}"
    return "" if rest.partition(".")[0] == "api" else f"{module} imports {imported}"


def is_below(module: str, imported: str) -> bool:
    """Whether a module imports what stands above it in its own section."""
    own = module.partition(".")[0]
    return imported.startswith(f"{own}.") and imported != module and layer(imported) > layer(module)


@pytest.fixture(scope="module")
def imports() -> list[tuple[str, str]]:
    found = [(module, imported) for module, path in list_modules() for imported in list_imports(path)]
    assert ("dlq.views.letters", "dashboard.pages") in found
    return found


def test_sections_meet_only_in_their_api(imports: list[tuple[str, str]]) -> None:
    assert not [found for pair in imports if (found := describe_crossing(*pair))]


def test_nothing_imports_what_stands_above_it(imports: list[tuple[str, str]]) -> None:
    assert not [f"{module} imports {imported}" for module, imported in imports if is_below(module, imported)]


@pytest.mark.parametrize(
    ("module", "imported"),
    [("dashboard.pages", "dlq.api"), ("dlq.views.letters", "projections.models")],
)
def test_a_crossing_would_be_noticed(module: str, imported: str) -> None:
    assert describe_crossing(module, imported)


def test_an_import_from_above_would_be_noticed() -> None:
    assert is_below("dlq.models.letter", "dlq.views.letters")
