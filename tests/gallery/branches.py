"""Which branches of its templates a page took: both ways of each `if`, a `for` with something and with nothing."""

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.template import Template
from django.template.base import Node, NodeList
from django.template.context import Context
from django.template.defaulttags import ForNode, IfNode
from django.template.loader import get_template

# Of the page that is being made.
taken: set[str] = set()


class Mark(Node):
    """Stands at the beginning of a branch and notes that it was taken."""

    def __init__(self, branch: str) -> None:
        self.branch = branch

    def render(self, context: Context) -> str:
        taken.add(self.branch)
        return ""


def mark_branches(template: Template) -> list[str]:
    """Set a mark into each branch of the template, and one into the `else` that an `if` does not have."""
    nodes = list(template.nodelist.get_nodes_by_type((IfNode, ForNode)))
    return [
        branch
        for number, node in enumerate(nodes)
        for branch in mark_node(node, f"{template.name}:{node.token.lineno} ({number}) {node.token.contents}")
    ]


def mark_node(node: Node, name: str) -> Iterator[str]:
    if isinstance(node, IfNode):
        if node.conditions_nodelists[-1][0] is not None:
            node.conditions_nodelists = [*node.conditions_nodelists, (None, NodeList())]
        branches = {str(n): nodes for n, (_, nodes) in enumerate(node.conditions_nodelists, start=1)}
    else:
        branches = {"something": node.nodelist_loop}
        branches |= {"empty": node.nodelist_empty} if node.nodelist_empty else {}
    for word, nodes in branches.items():
        branch = f"{name}: {word}"
        nodes.insert(0, Mark(branch))
        yield branch


def list_branches() -> Iterator[str]:
    """Every branch there is; marks it too, once."""
    folders = [settings.BASE_DIR / "templates", *settings.BASE_DIR.glob("*/templates")]
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.html")):
            yield from mark_branches(get_template(str(path.relative_to(folder))).template)
