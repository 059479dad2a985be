"""What a table of dead letters looks like from here: is it the one that was described, and what may this role do?"""

from dataclasses import dataclass

from sources.base import Ability, Found
from sources.connect import Connection, reading
from sources.sql.mapping import COLUMNS, VALUES, Mapping

# The table as this role sees it; no row: it does not see it. 80 is a trigger INSTEAD OF UPDATE.
LOOK = """
SELECT a.attname, quote_ident(a.attname),
       has_column_privilege(c.oid, a.attnum, 'SELECT'), has_column_privilege(c.oid, a.attnum, 'UPDATE'),
       c.relkind NOT IN ('r', 'p', 'm')
           OR EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisvalid AND i.indkey[0] = a.attnum),
       EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisvalid AND i.indisunique
               AND i.indpred IS NULL AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum),
       format_type(coalesce(nullif(t.typbasetype, 0), t.oid), NULL), t.typcategory::text,
       c.relkind IN ('r', 'p') AND NOT a.attnotnull,
       pg_column_is_updatable(c.oid, a.attnum, false)
           OR EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND tgtype & 80 = 80)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
WHERE c.oid = to_regclass(%(table)s)
ORDER BY a.attnum
"""
WHO = """
SELECT current_user, quote_ident(current_user), string_agg(quote_ident(part), '.' ORDER BY place),
       pg_is_in_recovery(), current_database(), current_setting('server_version')
FROM unnest(%(parts)s::text[]) WITH ORDINALITY AS t(part, place)
"""


@dataclass(frozen=True)
class Role:
    name: str
    # It and the table as a statement that is to be copied must spell them.
    spelled: str
    table: str


@dataclass(frozen=True)
class Column:
    name: str
    # As a statement must spell it.
    spelled: str
    is_readable: bool
    is_writable: bool
    # True also where that cannot be told, as of a view.
    is_indexed: bool
    is_unique: bool
    # Of a domain, what it is made of.
    type: str
    # N: a number, S: text, D: a time, as Postgres sorts types.
    category: str
    # False also where that cannot be told, as of a view.
    may_be_null: bool
    # Whether anybody could write it; a view that joins or computes takes no writes.
    takes_writes: bool


def inspect(connection: Connection, mapping: Mapping, seconds: float) -> Found:
    with reading(connection, seconds=seconds) as cursor:
        cursor.execute(WHO, {"parts": mapping.table.split(".")})
        [(name, spelled, table, is_replica, database, version)] = cursor.fetchall()
        cursor.execute(LOOK, {"table": mapping.identifier.as_string(cursor)})
        columns = {row[0]: Column(*row) for row in cursor.fetchall()}
    role = Role(name, spelled, table)
    reads = Ability(why_not_read(mapping, columns, role))
    writes = Ability(reads.why_not or why_not_write(mapping, columns, role, is_replica=is_replica))
    recognised = [f"Database {database}, PostgreSQL {version}."]
    if reads:
        recognised.append(f"{mapping.table}: {len(columns)} columns, all that are needed are there.")
        if not columns[mapping.key].is_indexed:
            recognised.append(f"{mapping.key} has no index: every look reads the whole table.")
        if not columns[mapping.key].is_unique:
            # Not refused: it may be unique all the same, as in a table with partitions.
            recognised.append(
                f"{mapping.key} has no unique index of its own: rows that share one are taken for one."
            )
        if columns[mapping.key].may_be_null:
            recognised.append(
                f"{mapping.key} may be NULL: nothing tells rows without it apart, so they are not read."
            )
    return Found(reads, writes, recognised, say_role(mapping, columns, role, reads, writes))


def say_role(
    mapping: Mapping, columns: dict[str, Column], role: Role, reads: Ability, writes: Ability
) -> list[str]:
    """Nothing where it is the table that is not as described: that is not for want of a right."""
    verbs = [verb for verb, can in (("read", reads), ("update the status in", writes)) if can]
    if not verbs and (not columns or any(column.is_readable for column in columns.values())):
        return []
    return [f"The role {role.name} may {' and '.join(verbs) or 'do nothing with'} {mapping.table}."]


def why_not_read(mapping: Mapping, columns: dict[str, Column], role: Role) -> str:
    """Empty: it can be read."""
    if not columns:
        return f"There is no table {mapping.table}, or the role {role.name} may not look into its schema."
    wanted = list_wanted(mapping)
    missing = [name for name in wanted if name not in columns]
    if missing:
        return f"{mapping.table} has no column {', '.join(missing)}; it has {', '.join(columns)}."
    hidden = [name for name in wanted if not columns[name].is_readable]
    if hidden:
        what = mapping.table if len(hidden) == len(wanted) else f"{', '.join(hidden)} of {mapping.table}"
        return f"The role {role.name} may not read {what}: GRANT SELECT ON {role.table} TO {role.spelled};"
    return why_not_understood(mapping, columns)


def why_not_understood(mapping: Mapping, columns: dict[str, Column]) -> str:
    """Empty: times are times, and numbers are numbers."""
    for name in ("failed_at", "first_failed_at", "attempts"):
        column = columns.get(getattr(mapping, name))
        if column is None:
            continue
        is_right = column.category == "N" if name == "attempts" else column.type.startswith("timestamp")
        if not is_right:
            what = "a number" if name == "attempts" else "a timestamp"
            return f"{column.name} of {mapping.table} is {column.type}; {name} must be {what}."
    return ""


def why_not_write(mapping: Mapping, columns: dict[str, Column], role: Role, *, is_replica: bool) -> str:
    """Empty: a status can be written."""
    if not mapping.status:
        return f"{mapping.table} has no status that could be written."
    if not mapping.resolved:
        return "The mapping names no word for a row that is resolved."
    if is_replica:
        return "It is a replica, where nothing can be written."
    written = [name for name in (mapping.status, mapping.closed_by, mapping.closed_at) if name]
    if computed := [name for name in written if not columns[name].takes_writes]:
        return (
            f"{mapping.table} is a view, or the like, through which nobody can write {', '.join(computed)}."
        )
    for name, what, categories in (("closed_by", "text", "S"), ("closed_at", "a timestamp", "DS")):
        column = columns.get(getattr(mapping, name))
        if column and column.category not in categories:
            return (
                f"{column.name} of {mapping.table} is {column.type}; {name} must be {what}, or be left out."
            )
    if not all(columns[name].is_writable for name in written):
        names, spelled = ", ".join(written), ", ".join(columns[name].spelled for name in written)
        grant = f"GRANT UPDATE ({spelled}) ON {role.table} TO {role.spelled};"
        return f"The role {role.name} may not write {names}: {grant}"
    return ""


def list_wanted(mapping: Mapping) -> list[str]:
    """The columns that the mapping names, each once."""
    named = [getattr(mapping, name) for name in (*COLUMNS, *VALUES)]
    return list(dict.fromkeys(name for name in named if name and not name.startswith("$")))
