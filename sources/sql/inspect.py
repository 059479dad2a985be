"""What a table of dead letters looks like from here: is it the one that was described, and what may this role do?"""

from dataclasses import dataclass

from sources.base import Ability, Found
from sources.connect import Connection, reading
from sources.sql.mapping import COLUMNS, VALUES, Mapping

# The table as this role sees it; no row: it does not see it.
LOOK = """
SELECT a.attname, has_column_privilege(c.oid, a.attnum, 'SELECT'), has_column_privilege(c.oid, a.attnum, 'UPDATE'),
       EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisvalid AND i.indkey[0] = a.attnum),
       format_type(coalesce(nullif(t.typbasetype, 0), t.oid), NULL), t.typcategory = 'N'
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
WHERE c.oid = to_regclass(%(table)s)
ORDER BY a.attnum
"""
WHO = "SELECT current_user, pg_is_in_recovery(), current_database(), current_setting('server_version')"


@dataclass(frozen=True)
class Column:
    name: str
    is_readable: bool
    is_writable: bool
    is_indexed: bool
    # Of a domain, what it is made of.
    type: str
    is_number: bool


def inspect(connection: Connection, mapping: Mapping, seconds: float) -> Found:
    with reading(connection, seconds=seconds) as cursor:
        cursor.execute(WHO)
        [(role, is_replica, database, version)] = cursor.fetchall()
        cursor.execute(LOOK, {"table": mapping.identifier.as_string(cursor)})
        columns = {row[0]: Column(*row) for row in cursor.fetchall()}
    reads = Ability(why_not_read(mapping, columns, role))
    writes = Ability(reads.why_not or why_not_write(mapping, columns, role, is_replica=is_replica))
    recognised = [f"Database {database}, PostgreSQL {version}."]
    if reads:
        recognised.append(f"{mapping.table}: {len(columns)} columns, all that are needed are there.")
        if not columns[mapping.key].is_indexed:
            recognised.append(f"{mapping.key} has no index: every look reads the whole table.")
    return Found(reads, writes, recognised, say_role(mapping, columns, role, reads, writes))


def say_role(
    mapping: Mapping, columns: dict[str, Column], role: str, reads: Ability, writes: Ability
) -> list[str]:
    """Nothing where it is the table that is not as described: that is not for want of a right."""
    verbs = [verb for verb, can in (("read", reads), ("update the status in", writes)) if can]
    if not verbs and (not columns or any(column.is_readable for column in columns.values())):
        return []
    return [f"The role {role} may {' and '.join(verbs) or 'do nothing with'} {mapping.table}."]


def why_not_read(mapping: Mapping, columns: dict[str, Column], role: str) -> str:
    """Empty: it can be read."""
    if not columns:
        return f"There is no table {mapping.table}, or the role {role} may not look into its schema."
    wanted = list_wanted(mapping)
    missing = [name for name in wanted if name not in columns]
    if missing:
        return f"{mapping.table} has no column {', '.join(missing)}; it has {', '.join(columns)}."
    hidden = [name for name in wanted if not columns[name].is_readable]
    if hidden:
        what = mapping.table if len(hidden) == len(wanted) else f"{', '.join(hidden)} of {mapping.table}"
        return f"The role {role} may not read {what}: GRANT SELECT ON {mapping.table} TO {role};"
    return why_not_understood(mapping, columns)


def why_not_understood(mapping: Mapping, columns: dict[str, Column]) -> str:
    """Empty: times are times, and numbers are numbers."""
    for name in ("failed_at", "first_failed_at", "attempts"):
        column = columns.get(getattr(mapping, name))
        if column is None:
            continue
        is_right = column.is_number if name == "attempts" else column.type.startswith("timestamp")
        if not is_right:
            what = "a number" if name == "attempts" else "a timestamp"
            return f"{column.name} of {mapping.table} is {column.type}; {name} must be {what}."
    return ""


def why_not_write(mapping: Mapping, columns: dict[str, Column], role: str, *, is_replica: bool) -> str:
    """Empty: a status can be written."""
    if not mapping.status:
        return f"{mapping.table} has no status that could be written."
    if not mapping.resolved:
        return "The mapping names no word for a row that is resolved."
    if is_replica:
        return "It is a replica, where nothing can be written."
    written = [name for name in (mapping.status, mapping.closed_by, mapping.closed_at) if name]
    if not all(columns[name].is_writable for name in written):
        names = ", ".join(written)
        return f"The role {role} may not write {names}: GRANT UPDATE ({names}) ON {mapping.table} TO {role};"
    return ""


def list_wanted(mapping: Mapping) -> list[str]:
    """The columns that the mapping names, each once."""
    named = [getattr(mapping, name) for name in (*COLUMNS, *VALUES)]
    return list(dict.fromkeys(name for name in named if name and not name.startswith("$")))
