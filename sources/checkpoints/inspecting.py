"""Whether the tables that checkpoints need are there, and what the role may do with them."""

from collections.abc import Sequence

from dashboard.words import agree
from sources.base import Ability, Found
from sources.connect import Cursor

INSPECT = """
SELECT name, to_regclass(name) IS NOT NULL, coalesce(has_table_privilege(to_regclass(name), 'SELECT'), false),
       coalesce(has_table_privilege(to_regclass(name), 'DELETE'), false), current_user::text, quote_ident(current_user)
FROM unnest(%(names)s::text[]) AS name
"""


def inspect_tables(cursor: Cursor, names: Sequence[str], checkpoints: str) -> Found:
    """`names` must be readable; in `checkpoints` a row must be deletable for a reset."""
    cursor.execute(INSPECT, {"names": list(names)})
    rows = cursor.fetchall()
    # As it is called, and as a statement that is to be copied must spell it.
    *_, role, spelled = rows[0]
    absent = [name for name, is_there, *_ in rows if not is_there]
    hidden = [name for name, is_there, may_read, *_ in rows if is_there and not may_read]
    may_delete = {name: may for name, _, _, may, *_ in rows}[checkpoints]
    if absent:
        is_no = agree(len(absent), "is no table", "are no tables")
        why = f"There {is_no} {' and '.join(absent)} in this database."
    elif hidden:
        why = f"The role {role} may not read {' or '.join(hidden)}: GRANT SELECT ON {', '.join(hidden)} TO {spelled};"
    else:
        why = ""
    no_reset = why or (
        ""
        if may_delete
        else f"The role {role} may delete nothing in {checkpoints}: GRANT DELETE ON {checkpoints} TO {spelled};"
    )
    may = "read checkpoints, and delete one to reset it" if may_delete else "read checkpoints"
    return Found(
        Ability(why),
        Ability(no_reset),
        recognised=[] if absent else [f"{checkpoints}: checkpoints, and {names[1]} beside them."],
        # What it may not do stands beside what cannot be done.
        role=[] if why else [f"The role {role} may {may}."],
    )
