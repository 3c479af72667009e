-- The whole schema as all migrations make it: to be read, never run. A test keeps it true.

create table meta (
  key text primary key,
  value any
) strict;

create table actor (
  n integer primary key,
  id text not null unique,
  history text not null,
  machine text not null,
  version text not null,
  hash text not null,
  input text not null,
  forked_from text,
  forked_seq integer,
  status text not null,
  seq integer not null,
  created integer not null,
  updated integer not null
, mark integer not null default 0, tenure integer not null default 0, attempts integer not null default 0, reason text, first integer not null default 1, projection integer not null default 0) strict;

-- Apart from the actor: a row is always written as a whole, and that of an actor with every commit. The sizes are
-- those of its texts, and of the journal up to its step; they come first, so that reading them reads no large text.
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

-- Entries before the first step of a compacted actor have no body; they keep the ids of letters.
-- By actor and step, in one number: reading a journal reads neighbouring pages, and adding to the newest fills a page
-- and begins the next. There is no foreign key: to delete an actor, SQLite would look for its entries among all.
create table entry (
  place integer primary key,
  actor integer generated always as (place >> 32) virtual,
  seq integer generated always as (place & 4294967295) virtual,
  at integer not null,
  recipient text not null,
  letter text,
  body text not null
) strict;

-- Only letters from outside have ids that may come twice. Those that come one after the other are neighbours here.
create unique index entry_letter on entry (letter, actor) where letter is not null;

create table letter (
  actor integer not null references actor (n),
  id text not null,
  at integer not null,
  due integer not null,
  body text not null, arrival integer not null default 0, starts integer not null default 0,
  primary key (actor, id)
) strict, without rowid;

create index letter_due on letter (actor, due);

-- Those that are running: how others ended is in the journal.
create table task (
  actor integer not null references actor (n),
  id text not null,
  recipient text not null,
  src text not null,
  input text not null,
  safety text not null check (safety in ('repeat', 'report', 'once')),
  attempt integer not null,
  epoch integer not null, starts integer not null default 0,
  primary key (actor, id)
) strict, without rowid;

-- Letters that no step could take, and why.
create table dead_letter (
  actor integer not null references actor (n),
  id text not null,
  at integer not null,
  body text not null,
  error text not null,
  primary key (actor, id)
) strict, without rowid;

-- Outcomes of stored letters that no transition took, or whose events are not as declared.
create table rejection (
  actor integer not null references actor (n),
  id text not null,
  at integer not null,
  seq integer not null,
  can text not null, problem text,
  primary key (actor, id)
) strict, without rowid;

-- Events that an operator should know about: users' actions that raised, steps that replay differently.
create table incident (
  n integer primary key,
  actor integer not null references actor (n),
  seq integer not null,
  at integer not null,
  kind text not null,
  detail text not null
) strict;

create index incident_actor on incident (actor);

-- The row of an actor in lists. `actor.projection` is the version of the projection that wrote it.
create table index_row (
  actor integer primary key references actor (n),
  id text not null,
  updated integer not null,
  kind text not null,
  status text not null,
  owner text not null,
  archived integer not null,
  facts text not null,
  summary text
) strict;

create index index_row_updated on index_row (updated, id, archived);

create index index_row_kind on index_row (kind, updated, id, archived);

create index index_row_status on index_row (status, updated, id, archived);

create index index_row_owner on index_row (owner, updated, id, archived);

-- Texts in which actors are found. Their numbers begin with the time, so that the newest come first without sorting.
create table index_text (
  n integer primary key,
  actor integer not null references actor (n),
  key text not null,
  body text not null
) strict;

create unique index index_text_key on index_text (actor, key);

create index index_text_actor on index_text (actor);

-- The words of the texts, by their numbers, written as `words.py` makes them.
create virtual table index_word using fts5 (words, content = '', prefix = '2 3', columnsize = 0, tokenize = 'ascii');
