"""Files as earlier versions wrote them."""

import sqlite3

from antiphon.stores.queries import load_migrations

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

# What the version before tasks that are over were let go wrote: one runs, the others ended in every way.
TASKS = """
update meta set value = 3 where key = 'epoch';
insert into actor values (1, 'a', 'i1', 'toggle', '"1"', 'h1', 'null', null, null, 'active', 1, 10, 10);
insert into actor values (2, 'b', 'i2', 'toggle', '"1"', 'h1', 'null', null, null, 'active', 1, 10, 10);
insert into entry values (1, 1, 10, '', null, '{"event":{"type":"xstate.init"},"value":"off","status":"active"}');
insert into entry values (2, 1, 10, '', null, '{"event":{"type":"xstate.init"},"value":"off","status":"active"}');
insert into task values ('i1/1/0', 1, 'r0', 'reply', 'null', 'report', 1, 'done', 1);
insert into task values ('i1/1/1', 1, 'r1', 'reply', '{"n": 1}', 'repeat', 2, 'running', 3);
insert into task values ('i1/1/2', 1, 'r2', 'reply', 'null', 'once', 1, 'unknown', 1);
insert into task values ('i2/1/0', 2, 'r0', 'reply', 'null', 'report', 1, 'cancelled', 2);
insert into task values ('i2/1/1', 2, 'r1', 'reply', 'null', 'report', 1, 'interrupted', 2);
insert into task values ('i2/1/2', 2, 'r2', 'reply', 'null', 'once', 1, 'running', 3);
"""


def old_file(path, rows=ROWS, schema=1):
    """A file as an earlier migration left it."""
    scripts = "".join(script for number, script in load_migrations("sqlite") if number <= schema)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(f"pragma journal_mode = wal; {scripts} pragma user_version = {schema}; {rows}")
    connection.close()
    return path
