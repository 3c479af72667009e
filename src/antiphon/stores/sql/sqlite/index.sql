-- Every statement on the index, by name.

-- name: save_row
-- The row of an actor; without a summary, that of the row before stays.
insert into index_row (actor, id, updated, kind, status, owner, archived, facts, summary)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (actor) do update
set updated = excluded.updated, kind = excluded.kind, status = excluded.status, owner = excluded.owner,
  archived = excluded.archived, facts = excluded.facts, summary = coalesce(excluded.summary, summary);

-- name: touch_row
-- The time of the latest change of a row.
update index_row
set updated = ?
where actor = ?;

-- name: text_of
-- A text of an actor, by its key.
select n, body
from index_text
where actor = ? and key = ?;

-- name: texts_of
-- All texts of an actor.
select n, body
from index_text
where actor = ?;

-- name: texts_from
-- The texts of an actor from a number on.
select body
from index_text
where actor = ? and n >= ?;

-- name: add_text
-- A text, unless its number is taken.
insert into index_text (n, actor, key, body)
values (?, ?, ?, ?)
on conflict (n) do nothing;

-- name: add_words
-- The words of a text.
insert into index_word (rowid, words)
values (?, ?);

-- name: drop_words
-- The words of a text that is deleted; FTS5 needs them to find their entries.
insert into index_word (index_word, rowid, words)
values ('delete', ?, ?);

-- name: drop_text
-- A text.
delete from index_text
where n = ?;

-- name: drop_row
-- The row of an actor.
delete from index_row
where actor = ?;

-- name: clear_words
-- The words of all texts.
insert into index_word (index_word)
values ('delete-all');

-- name: clear_texts
-- All texts.
delete from index_text;

-- name: clear_rows
-- All rows.
delete from index_row;

-- name: clear_projections
-- All actors without rows.
update actor
set projection = 0;

-- name: set_projection
-- The version of the projection that wrote the row of an actor.
update actor
set projection = ?
where n = ?;

-- name: outdated
-- Actors whose rows were written by none of two versions of a projection.
select id
from actor
where projection not in (?, ?)
order by id;

-- name: ids_from
-- Actors with rows whose ids start with a prefix: they are from it on, and before the first id that does not.
select actor.id
from actor
join index_row on index_row.actor = actor.n
where actor.id >= ?1 and actor.id < ?1 || char(1114111) and substr(actor.id, 1, length(?1)) = ?1
  and (?2 is null or kind = ?2) and (?4 is null or owner = ?4)
order by actor.id
limit ?3;

-- name: matches
-- Texts with some words, the newest first.
select index_text.n, index_text.actor
from index_word
join index_text on index_text.n = index_word.rowid
where index_word match ? and index_word.rowid < ?
order by index_word.rowid desc;

-- name: text
-- A text with the id of its actor.
select actor.id, body
from index_text
join actor on actor.n = index_text.actor
where index_text.n = ?;

-- name: row_of
-- One actor with its row.
select actor.id, index_row.updated, kind, index_row.status, owner, archived, facts, summary,
  actor.status, machine, version, hash
from actor
join index_row on index_row.actor = actor.n
where actor.id = ?;

-- name: rows
-- Actors with their rows, the latest changed first.
select actor.id, index_row.updated, kind, index_row.status, owner, archived, facts, summary,
  actor.status, machine, version, hash
from index_row
join actor on actor.n = index_row.actor
where true
  and (index_row.updated, index_row.id) < (?1, ?2)
  and (?3 is null or archived = ?3)
  and (?4 is null or kind = ?4)
  and (?5 is null or (index_row.status in (?5, ?6) and actor.status <> 'quarantined'))
  and (?7 is null or owner = ?7)
  and index_row.updated >= ?8
order by index_row.updated desc, index_row.id desc
limit ?9;

-- name: rows_of_kind
-- The same, of one kind.
select actor.id, index_row.updated, kind, index_row.status, owner, archived, facts, summary,
  actor.status, machine, version, hash
from index_row
join actor on actor.n = index_row.actor
where kind = ?4
  and (index_row.updated, index_row.id) < (?1, ?2)
  and (?3 is null or archived = ?3)
  and (?4 is null or kind = ?4)
  and (?5 is null or (index_row.status in (?5, ?6) and actor.status <> 'quarantined'))
  and (?7 is null or owner = ?7)
  and index_row.updated >= ?8
order by index_row.updated desc, index_row.id desc
limit ?9;

-- name: rows_of_status
-- The same, of one or two statuses.
select actor.id, index_row.updated, kind, index_row.status, owner, archived, facts, summary,
  actor.status, machine, version, hash
from index_row
join actor on actor.n = index_row.actor
where index_row.status in (?5, ?6)
  and (index_row.updated, index_row.id) < (?1, ?2)
  and (?3 is null or archived = ?3)
  and (?4 is null or kind = ?4)
  and (?5 is null or (index_row.status in (?5, ?6) and actor.status <> 'quarantined'))
  and (?7 is null or owner = ?7)
  and index_row.updated >= ?8
order by index_row.updated desc, index_row.id desc
limit ?9;

-- name: rows_of_owner
-- The same, of one owner.
select actor.id, index_row.updated, kind, index_row.status, owner, archived, facts, summary,
  actor.status, machine, version, hash
from index_row
join actor on actor.n = index_row.actor
where owner = ?7
  and (index_row.updated, index_row.id) < (?1, ?2)
  and (?3 is null or archived = ?3)
  and (?4 is null or kind = ?4)
  and (?5 is null or (index_row.status in (?5, ?6) and actor.status <> 'quarantined'))
  and (?7 is null or owner = ?7)
  and index_row.updated >= ?8
order by index_row.updated desc, index_row.id desc
limit ?9;

-- name: rows_of_quarantined
-- The same, quarantined ones.
select actor.id, index_row.updated, kind, index_row.status, owner, archived, facts, summary,
  actor.status, machine, version, hash
from index_row
join actor on actor.n = index_row.actor
where actor.status = 'quarantined'
  and (index_row.updated, index_row.id) < (?1, ?2)
  and (?3 is null or archived = ?3)
  and (?4 is null or kind = ?4)
  and (?5 is null or (index_row.status in (?5, ?6) and actor.status <> 'quarantined'))
  and (?7 is null or owner = ?7)
  and index_row.updated >= ?8
order by index_row.updated desc, index_row.id desc
limit ?9;
