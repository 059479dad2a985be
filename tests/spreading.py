"""A pytest plugin: how a parallel run is spread over its processes.

pytest-xdist's own mark for what stays together, xdist_group, has no effect with pytest 9.2:
https://github.com/pytest-dev/pytest-xdist/issues/1386
"""

import pytest
from xdist.scheduler import LoadScopeScheduling

# Each shares what takes long to start, a console or an application, and so stays in one process; it is begun first.
TOGETHER = ("tests/system/test_up.py", "tests/sources/eventsource_py/")
# Begun next, so that nobody waits for one of them at the end.
LONG = (
    "tests/dlq/replay/test_chaos.py",
    "tests/projections/test_concurrency.py",
    "tests/projections/test_rebuild.py",
    "tests/browser/test_every_page.py",
)


class Spreading(LoadScopeScheduling):
    """What is not together goes one by one to whoever is free."""

    def _split_scope(self, nodeid: str) -> str:
        return next((path for path in TOGETHER if nodeid.startswith(path)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Spreading:
    return Spreading(config, log)  # type: ignore[arg-type]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(
        key=lambda item: next((n for n, path in enumerate(LONG) if item.nodeid.startswith(path)), len(LONG))
    )
