-- Every statement the SQLite store runs, by name.

-- name: begin_boot
-- The number of this boot.
update meta
set value = value + 1
where key = 'epoch'
returning value;

-- name: current_boot
-- The number of the latest boot.
select value
from meta
where key = 'epoch';

-- name: mark_open
-- The mark of a file that is open: the number of the boot. A version that does not know the mark leaves an old number.
insert into meta (key, value)
select 'open', value
from meta
where key = 'epoch'
on conflict (key) do update
set value = excluded.value;

-- name: mark_closed
-- The mark of a file that was closed: none.
delete from meta
where key = 'open';

-- name: is_marked
-- A row if the file is marked as open.
select 1
from meta as mark
join meta as boot on boot.key = 'epoch' and boot.value = mark.value
where mark.key = 'open';

-- name: add_actor
-- A new root actor.
insert into actor (id, incarnation, machine, version, hash, input, forked_from, forked_seq, status, created, updated, seq)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
on conflict (id) do nothing
returning n;

-- name: find_actor
-- The number of a root actor.
select n
from actor
where id = ?;

-- name: load_actor
-- All that is known of a root actor; the snapshot as bytes, since damaged ones may be no text.
select n, incarnation, machine, version, hash, input, forked_from, forked_seq, status, actor.seq,
  coalesce(snapshot.seq, 0), cast(snapshot.body as blob)
from actor
left join snapshot on snapshot.actor = actor.n
where id = ?;

-- name: move_actor
-- The fence: moves an actor on only if nobody else has.
update actor
set seq = ?, status = ?, updated = ?
where n = ? and seq = ?;

-- name: change_version
-- Another version of the machine an actor runs.
update actor
set version = ?, hash = ?
where n = ?;

-- name: save_snapshot
-- The latest snapshot, which replaces the one before.
insert into snapshot (actor, seq, body)
values (?, ?, ?)
on conflict (actor) do update
set seq = excluded.seq, body = excluded.body;

-- name: add_entry
-- One step of an actor, in its place.
insert into entry (place, at, recipient, letter, body)
values ((? << 32) + ?, ?, ?, ?, ?);

-- name: entries_after
-- A journal from a sequence number on.
select seq, at, recipient, letter, body
from entry
where place > (?1 << 32) + ?2 and place < (?1 + 1) << 32
order by place
limit ?3;

-- name: applied_at
-- Where a letter was applied.
select seq
from entry
where actor = ? and letter = ?;

-- name: add_letter
-- A letter, unless it is there already.
insert into letter (actor, id, at, due, body)
values (?, ?, ?, ?, ?)
on conflict do nothing;

-- name: drop_letter
-- A letter that is done with.
delete from letter
where actor = ? and id = ?;

-- name: letters_of
-- An inbox, in order.
select id, at, due, body
from letter
where actor = ?
order by due, at, id;

-- name: latest_letter
-- The time of the latest letter that waits.
select max(at)
from letter;

-- name: move_letters
-- All letters that wait, earlier.
update letter
set at = at - ?, due = due - ?;

-- name: due_times
-- Which actors have letters, and when the first is due.
select actor.id, min(letter.due)
from letter
join actor on actor.n = letter.actor
group by letter.actor
order by 2, 1;

-- name: add_task
-- Work that a step asked for, or asked for again.
insert into task (actor, id, recipient, src, input, safety, attempt, epoch)
values (?, ?, ?, ?, ?, ?, ?, ?)
on conflict (actor, id) do update
set recipient = excluded.recipient, src = excluded.src, input = excluded.input, safety = excluded.safety,
  attempt = excluded.attempt, epoch = excluded.epoch;

-- name: end_task
-- Work that is over; how it ended is in the journal.
delete from task
where actor = ? and id = ?;

-- name: tasks_of
-- The running tasks of an actor.
select id, recipient, src, input, safety, attempt, epoch
from task
where actor = ?
order by id;

-- name: running_tasks
-- All running tasks.
select actor.id, task.id, recipient, src, task.input, safety, attempt, epoch
from task
join actor on actor.n = task.actor
order by task.id, actor.id;

-- name: add_dead_letter
-- A letter that no step could take.
insert into dead_letter (actor, id, at, body, error)
values (?, ?, ?, ?, ?)
on conflict do nothing;

-- name: dead_letters_of
-- The letters that no step of an actor could take.
select id, at, body, error
from dead_letter
where actor = ?
order by at, id;

-- name: roots
-- Root actors by id.
select id, machine, status, seq, updated
from actor
where id > ?
order by id
limit ?;
