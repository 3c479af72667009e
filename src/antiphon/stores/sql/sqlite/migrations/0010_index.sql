-- Lists and searches are read from an index, which every commit keeps up to date. The trees of this file get their
-- rows from the runtime that opens it next: only machines can read their states.
alter table actor add column projection integer not null default 0;

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

create table index_text (
  n integer primary key,
  actor integer not null references actor (n),
  key text not null,
  body text not null
) strict;

create unique index index_text_key on index_text (actor, key);

create index index_text_actor on index_text (actor);

create virtual table index_word using fts5 (words, content = '', prefix = '2 3', columnsize = 0, tokenize = 'ascii');
