-- Every statement that the commands for operators run, by name.

-- name: statuses
-- How many root actors have which status.
select status, count(*)
from actor
group by status
order by status;

-- name: machines
-- How many root actors run which machine.
select machine, count(*)
from actor
group by machine
order by machine;

-- name: ages
-- The steps of all root actors, how many of them were removed, when the oldest was made, and when one last changed.
select coalesce(sum(seq), 0), coalesce(sum(first - 1), 0), min(created), max(updated)
from actor;

-- name: longest
-- The longest journals.
select id, seq
from actor
order by seq desc, id
limit 5;

-- name: letters_waiting
-- How many letters wait, and when the first is due.
select count(*), min(due)
from letter;

-- name: task_count
-- How many tasks are running.
select count(*)
from task;

-- name: dead_count
-- How many letters no step could take.
select count(*)
from dead_letter;

-- name: dead_letters
-- All letters that no step could take.
select actor.id, dead_letter.id, dead_letter.at, body, error
from dead_letter
join actor on actor.n = dead_letter.actor
order by dead_letter.at, actor.id, dead_letter.id;

-- name: tree_count
-- How many root actors there are.
select count(*)
from actor;

-- name: row_count
-- How many rows there are to look at.
select (select count(*) from actor) + (select count(*) from snapshot) + (select count(*) from entry)
  + (select count(*) from letter) + (select count(*) from task) + (select count(*) from dead_letter)
  + (select count(*) from rejection);

-- name: broken_journals
-- Root actors whose journal is not exactly the steps from their first one to their sequence.
select actor.id, actor.seq, first, count(entry.seq), coalesce(max(entry.seq), 0)
from actor
left join entry on entry.place >= (actor.n << 32) + first and entry.place < (actor.n + 1) << 32
group by actor.n
having count(entry.seq) <> actor.seq - first + 1
  or coalesce(max(entry.seq), first - 1) <> actor.seq;

-- name: headless_journals
-- Root actors whose journal was shortened, and which lack the snapshot that it begins with.
select id, first
from actor
where first > 1 and not exists (select 1 from snapshot where snapshot.actor = actor.n and snapshot.seq = first - 1);

-- name: stray_entries
-- How many steps belong to no root actor.
select count(*)
from entry
where actor not in (select n from actor);

-- name: odd_snapshots
-- Root actors whose snapshot is from a step they have not taken, or from no step.
select actor.id, actor.seq, snapshot.seq
from snapshot
join actor on actor.n = snapshot.actor
where snapshot.seq > actor.seq or snapshot.seq < 1;

-- name: applied_letters
-- Letters that wait although they were applied; of those there are fewer than entries, so they come first.
select actor.id, letter.id
from letter
cross join entry on entry.actor = letter.actor and entry.letter = letter.id
join actor on actor.n = letter.actor;

-- name: all_actors
-- Everything about all root actors.
select n, id, history, machine, version, hash, input, forked_from, forked_seq, status, created, updated,
  seq, mark, attempts, reason, first
from actor
order by id;

-- name: all_snapshots_of
-- All snapshots of a root actor, the latest first; as bytes, since damaged ones may be no text.
select seq, journal, version, cast(open as blob), cast(body as blob)
from snapshot
where actor = ?
order by seq desc;

-- name: all_entries_of
-- The whole journal of a root actor.
select seq, at, recipient, letter, body
from entry
where place > ?1 << 32 and place < (?1 + 1) << 32
order by place;

-- name: all_letters_of
-- The whole inbox of a root actor.
select id, at, due, arrival, starts, body
from letter
where actor = ?
order by due, at, arrival, id;

-- name: all_tasks_of
-- All running tasks of a root actor.
select id, recipient, src, input, safety, attempt, epoch, starts
from task
where actor = ?
order by id;

-- name: all_dead_letters_of
-- All letters that no step of a root actor could take.
select id, at, body, error
from dead_letter
where actor = ?
order by at, id;

-- name: insert_actor
-- A root actor as another store had it.
insert into actor (
  id, history, machine, version, hash, input, forked_from, forked_seq, status, created, updated, seq, mark, attempts,
  reason, first
)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (id) do nothing
returning n;

-- name: insert_snapshot
-- A snapshot as another store had it.
insert into snapshot (actor, seq, journal, version, open, body, size)
values (?1, ?2, ?3, ?4, ?5, ?6, length(?6) + coalesce(length(?5), 0));

-- name: insert_entry
-- A step as another store had it.
insert into entry (place, at, recipient, letter, body)
values ((? << 32) + ?, ?, ?, ?, ?);

-- name: insert_letter
-- A letter as another store had it.
insert into letter (actor, id, at, due, arrival, starts, body)
values (?, ?, ?, ?, ?, ?, ?);

-- name: insert_task
-- A task as another store had it.
insert into task (actor, id, recipient, src, input, safety, attempt, epoch, starts)
values (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: insert_dead_letter
-- A dead letter as another store had it.
insert into dead_letter (actor, id, at, body, error)
values (?, ?, ?, ?, ?);

-- name: all_rejections_of
-- The outcomes of all letters that no transition of a root actor took.
select id, at, seq, can, problem
from rejection
where actor = ?
order by at, id;

-- name: all_incidents_of
-- All incidents of a root actor.
select seq, at, kind, detail
from incident
where actor = ?
order by n;

-- name: insert_rejection
-- The outcome of a letter as another store had it.
insert into rejection (actor, id, at, seq, can, problem)
values (?, ?, ?, ?, ?, ?);

-- name: insert_incident
-- An incident as another store had it.
insert into incident (actor, seq, at, kind, detail)
values (?, ?, ?, ?, ?);

-- name: compactable_trees
-- The trees whose journals may be shortened.
select n, id, first, seq
from actor
where status <> 'quarantined'
order by id;

-- name: first_since
-- The first of some steps that was made at or after a time.
select seq
from entry
where place >= (?1 << 32) + ?2 and place <= (?1 << 32) + ?3 and at >= ?4
order by place
limit 1;

-- name: size_to
-- The size of some steps and of the snapshots before the last of them.
select coalesce(sum(length(body)), 0)
  + (select coalesce(sum(size), 0) from snapshot where snapshot.actor = ?1 and snapshot.seq < ?3)
from entry
where place >= (?1 << 32) + ?2 and place <= (?1 << 32) + ?3;

-- name: empty_entries
-- Some steps that took letters from outside, reduced to the ids of these.
update entry
set recipient = '', body = 'null'
where place >= (?1 << 32) + ?2 and place <= (?1 << 32) + ?3 and letter is not null;

-- name: delete_entries
-- The others of these steps, deleted.
delete from entry
where place >= (?1 << 32) + ?2 and place <= (?1 << 32) + ?3 and letter is null;

-- name: delete_snapshots
-- The snapshots before a step, deleted.
delete from snapshot
where actor = ? and seq < ?;

-- name: set_first
-- The first step that is left in a journal.
update actor
set first = ?
where n = ?;

-- name: raise_boot
-- The number of boots, if another store had more.
update meta
set value = max(value, ?)
where key = 'epoch';

-- name: note_copy
-- A copy, of which the next owner is to know.
insert into meta (key, value)
values ('restore pending', 1)
on conflict (key) do nothing;

-- name: take_note
-- The note of a copy, which is removed.
delete from meta
where key = 'restore pending'
returning value;

-- name: change_histories
-- All root actors, whose further steps belong to new histories.
update actor
set history = history || '@' || seq || '.' || ?;

-- name: trees_since
-- The root actors in the index that were changed since a time, with the first step that their journals have.
select n, actor.id, kind, facts, summary, input, first
from index_row
join actor on n = index_row.actor
where index_row.updated >= ?
order by index_row.updated;

-- name: usage_steps
-- The steps of a root actor, between two places, that begin a reply, report what it has used, or choose a model.
select seq, at, recipient, letter, body
from entry
where place >= ? and place < ? and (
  instr(body, '"costUsd"') or instr(body, '"REQUEST_STARTED"') or instr(body, '"use_model"')
)
order by place;
