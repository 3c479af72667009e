-- Snapshots before the latest are kept at growing distances, and journals can be shortened.
alter table actor add column first integer not null default 1;

alter table snapshot rename to snapshot_before;

create table snapshot (
  actor integer not null references actor (n),
  seq integer not null,
  size integer not null,
  journal integer not null,
  version text not null,
  open text,
  body text not null,
  primary key (actor, seq)
) strict;

insert into snapshot (actor, seq, size, journal, version, body)
select actor, snapshot_before.seq, length(body), snapshot_before.seq * 100, version, body
from snapshot_before
join actor on actor.n = snapshot_before.actor;

drop table snapshot_before;
