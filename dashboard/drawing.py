"""Drawing a django-tables2 table's rows: what is the same for every row is found out once, not for each cell."""

import inspect
from collections.abc import Callable
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString


def draw_rows(table: Any) -> SafeString:
    """The rows of the table, each cell with its column's name for narrow screens."""
    cells = [make_cell(table, column) for column in table.columns]
    row_id: Callable[[Any], str] = table.row_attrs.get("id", lambda record: "")
    return format_html_join(
        "\n",
        '<tr id="{}">{}</tr>',
        (
            (row_id(record), format_html_join("", "{}", ((cell(record),) for cell in cells)))
            for record in table.data
        ),
    )


def make_cell(table: Any, column: Any) -> Callable[[Any], SafeString]:
    """A function from a record to its cell, by django-tables2's rules: `render_<name>`, empty values, links."""
    render = getattr(table, f"render_{column.name}", None) or column.column.render
    wanted = set(inspect.signature(render).parameters)
    same = {"table": table, "column": column.column, "bound_column": column}
    given = {name: value for name, value in same.items() if name in wanted}
    opening = format_html('<td data-label="{}" {}>', column.header, column.attrs["td"].as_html())
    resolve, empty, default = column.accessor.resolve, column.column.empty_values, column.default

    def draw(record: Any) -> SafeString:
        value = resolve(record, quiet=True)
        if value in empty:
            return format_html("{}{}</td>", opening, default)
        if "value" in wanted:
            given["value"] = value
        if "record" in wanted:
            given["record"] = record
        cell = render(**given)
        if column.link:
            cell = column.link(cell, value=value, record=record, **same)
        return format_html("{}{}</td>", opening, cell)

    return draw
