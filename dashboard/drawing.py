"""Drawing a django-tables2 table's rows: what is the same for every row is found out once, not for each cell."""

import inspect
from collections.abc import Callable
from typing import Any

from django.utils.safestring import SafeString
from django_tables2.utils import AttributeDict

from dashboard.markup import escaped, markup

# "unknown" is not among them: it must be seen.
SAYS_NOTHING = {"–", "none"}


def draw_rows(table: Any) -> SafeString:
    """The rows of the table, each cell with its column's name for narrow screens."""
    cells = [make_cell(table, column) for column in table.columns]
    row_id: Callable[[Any], str] = table.row_attrs.get("id", lambda record: "")

    def draw(record: Any) -> str:
        return f'<tr id="{escaped(row_id(record))}">{"".join([cell(record) for cell in cells])}</tr>\n'

    return SafeString("".join([draw(record) for record in table.data]))


def make_cell(table: Any, column: Any) -> Callable[[Any], str]:
    """A function from a record to its cell, by django-tables2's rules: `render_<name>`, empty values, links."""
    render = getattr(table, f"render_{column.name}", None) or column.column.render
    wanted = set(inspect.signature(render).parameters)
    same = {"table": table, "column": column.column, "bound_column": column}
    given = {name: value for name, value in same.items() if name in wanted}
    attrs = column.attrs["td"]
    opening = markup('<td data-label="{}" {}>', column.header, attrs.as_html())
    # A card on a narrow screen leaves out the cells that say nothing.
    nothing = AttributeDict({**attrs, "class": f"{attrs.get('class', '')} none".strip()})
    opening_nothing = markup('<td data-label="{}" {}>', column.header, nothing.as_html())
    find, empty, default = make_getter(column.accessor), column.column.empty_values, column.default

    def draw(record: Any) -> str:
        value = find(record)
        if value in empty:
            return f"{opening_nothing if default in SAYS_NOTHING else opening}{escaped(default)}</td>"
        if "value" in wanted:
            given["value"] = value
        if "record" in wanted:
            given["record"] = record
        cell = render(**given)
        if column.link:
            cell = column.link(cell, value=value, record=record, **same)
        text = escaped(cell)
        return f"{opening_nothing if text.strip() in SAYS_NOTHING else opening}{text}</td>"

    return draw


def make_getter(accessor: Any) -> Callable[[Any], Any]:
    """A function from a record to the value that the column shows; None where something on the way is missing."""
    if "__" in accessor:
        return lambda record: accessor.resolve(record, quiet=True)
    # A plain attribute, as nearly always: django-tables2 would first try whether the record is a dictionary.
    return lambda record: getattr(record, accessor, None)
