"""Whether the tables that checkpoints need are there, and what the role may do with them."""

from collections.abc import Sequence

from sources.base import Ability, Found
from sources.connect import Cursor

INSPECT = """
SELECT name, to_regclass(name) IS NOT NULL, coalesce(has_table_privilege(to_regclass(name), 'SELECT'), false),
       coalesce(has_table_privilege(to_regclass(name), 'DELETE'), false), current_user::text
FROM unnest(%(names)s::text[]) AS name
"""


def inspect_tables(cursor: Cursor, names: Sequence[str], checkpoints: str) -> Found:
    """`names` must be readable; in `checkpoints` a row must be deletable for a reset."""
    cursor.execute(INSPECT, {"names": list(names)})
    rows = cursor.fetchall()
    role = rows[0][-1]
    absent = [name for name, is_there, *_ in rows if not is_there]
    hidden = [name for name, is_there, may_read, *_ in rows if is_there and not may_read]
    may_delete = {name: may for name, _, _, may, _ in rows}[checkpoints]
    if absent:
        why = f"There is no table {' nor '.join(absent)} in this database."
    elif hidden:
        why = f"The role {role} may not read {' nor '.join(hidden)}: GRANT SELECT ON {', '.join(hidden)} TO {role};"
    else:
        why = ""
    no_reset = why or (
        ""
        if may_delete
        else f"The role {role} may delete nothing in {checkpoints}: GRANT DELETE ON {checkpoints} TO {role};"
    )
    return Found(
        Ability(why),
        Ability(no_reset),
        recognised=[] if absent else [f"{checkpoints}: checkpoints, and {names[1]} beside them."],
        role=[no_reset or f"The role {role} may read checkpoints, and delete one to reset it."],
    )
