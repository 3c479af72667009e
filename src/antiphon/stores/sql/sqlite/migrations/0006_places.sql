-- The journal by one number, the place. Behind the last row of such a table SQLite begins a new page when the one
-- before is full; in a table of two keys it shares a full page out among its neighbours, and writes all of those.
drop index entry_letter;

alter table entry rename to entry_before;

create table entry (
  place integer primary key,
  actor integer generated always as (place >> 32) virtual,
  seq integer generated always as (place & 4294967295) virtual,
  at integer not null,
  recipient text not null,
  letter text,
  body text not null
) strict;

insert into entry (place, at, recipient, letter, body)
select (actor << 32) + seq, at, recipient, letter, body
from entry_before
order by actor, seq;

drop table entry_before;

create unique index entry_letter on entry (letter, actor) where letter is not null;
