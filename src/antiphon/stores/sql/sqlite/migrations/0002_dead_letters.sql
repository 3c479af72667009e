-- Letters that no step could take, and why.

create table dead_letter (
  actor integer not null references actor (n),
  id text not null,
  at integer not null,
  body text not null,
  error text not null,
  primary key (actor, id)
) strict, without rowid;
