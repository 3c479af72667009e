-- Snapshots in a table of their own: every commit writes the row of its actor, and a row is always written as a whole,
-- so the longer a conversation, the dearer each of its steps was.
create table snapshot (
  actor integer primary key references actor (n),
  seq integer not null,
  body text not null
) strict;

-- A damaged one goes along as it is: it keeps nobody from opening the file, and is found where it is read.
insert into snapshot (actor, seq, body)
select n, snapshot_seq, cast(snapshot as text)
from actor
where snapshot is not null;

alter table actor drop column snapshot;

alter table actor drop column snapshot_seq;
