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
        "needs",
        "operations",
        "preview",
        "queries",
        "selection",
        "tables",
        "templatetags",
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


MODULES = [pytest.param(module, path, id=module) for module, path in list_modules()]


@pytest.mark.parametrize(("module", "path"), MODULES)
def test_sections_meet_only_in_their_api(module: str, path: Path) -> None:
    own = module.partition(".")[0]
    for imported in list_imports(path):
        section, _, rest = imported.partition(".")
        if section in SECTIONS - {own} and not looks_at_all(module):
            assert own != GROUND, f"{module} is the ground floor and imports {imported}"
            assert rest.partition(".")[0] == "api", f"{module} imports {imported}"


@pytest.mark.parametrize(("module", "path"), MODULES)
def test_nothing_imports_what_stands_above_it(module: str, path: Path) -> None:
    own = module.partition(".")[0]
    for imported in list_imports(path):
        if imported.startswith(f"{own}.") and imported != module:
            assert layer(imported) <= layer(module), f"{module} imports {imported}"
