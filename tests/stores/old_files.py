"""Files as earlier versions wrote them."""

import sqlite3

from antiphon.stores.queries import migrations

# What the first release wrote, as it wrote it.
ROWS = """
update meta set value = 3 where key = 'epoch';
insert into actor
values (1, 'a', 'i1', 'toggle', '"1"', 'h1', '{"topic":"tea"}', null, null, 'active', 2, 1, '{"value": "off"}', 10, 12);
insert into entry values (1, 1, 10, '', null, '{"event":{"type":"xstate.init"},"value":"off","status":"active"}');
insert into entry values (1, 2, 12, '', 'l1', '{"event":{"type":"TOGGLE"},"value":"on"}');
insert into letter values (1, 'l2', 13, 99, '{"event":{"type":"TOGGLE"},"timer":"later"}');
insert into task values ('i1/2/0', 1, 'reply', 'reply', '{"n": 1}', 'report', 1, 'running', 3);
"""


def old_file(path, rows=ROWS, schema=1):
    """A file as an earlier migration left it."""
    scripts = "".join(script for number, script in migrations("sqlite") if number <= schema)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(f"pragma journal_mode = wal; {scripts} pragma user_version = {schema}; {rows}")
    connection.close()
    return path
