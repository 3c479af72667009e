-- Every letter has an outcome, every commit a mark, every tree a history; several snapshots of a tree can be kept.
alter table actor rename column incarnation to history;

alter table actor add column mark integer not null default 0;

alter table actor add column tenure integer not null default 0;

alter table actor add column attempts integer not null default 0;

alter table actor add column reason text;

alter table letter add column arrival integer not null default 0;

alter table letter add column starts integer not null default 0;

alter table task add column starts integer not null default 0;

alter table snapshot rename to snapshot_before;

create table snapshot (
  actor integer not null references actor (n),
  seq integer not null,
  body text not null,
  primary key (actor, seq)
) strict;

insert into snapshot (actor, seq, body)
select actor, seq, body
from snapshot_before;

drop table snapshot_before;

create table rejection (
  actor integer not null references actor (n),
  id text not null,
  at integer not null,
  seq integer not null,
  can text not null,
  primary key (actor, id)
) strict, without rowid;

create table incident (
  n integer primary key,
  actor integer not null references actor (n),
  seq integer not null,
  at integer not null,
  kind text not null,
  detail text not null
) strict;

create index incident_actor on incident (actor);
