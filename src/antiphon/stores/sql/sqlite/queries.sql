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

-- name: flag_open
-- The flag of a file that is open: the number of the boot. A version that does not know the flag leaves an old number.
insert into meta (key, value)
select 'open', value
from meta
where key = 'epoch'
on conflict (key) do update
set value = excluded.value;

-- name: flag_closed
-- The flag of a file that was closed: none.
delete from meta
where key = 'open';

-- name: is_flagged
-- A row if the file is flagged as open.
select 1
from meta as flag
join meta as boot on boot.key = 'epoch' and boot.value = flag.value
where flag.key = 'open';

-- name: unclean_starts
-- How many boots in a row did not close the store, up to now.
select value
from meta
where key = 'unclean starts';

-- name: set_unclean_starts
-- The number that the next boot will find.
insert into meta (key, value)
values ('unclean starts', ?)
on conflict (key) do update
set value = excluded.value;

-- name: add_actor
-- A new root actor.
insert into actor (id, history, machine, version, hash, input, forked_from, forked_seq, status, created, updated, seq)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
on conflict (id) do nothing
returning n;

-- name: find_actor
-- The number of a root actor.
select n
from actor
where id = ?;

-- name: load_actor
-- All that is known of a root actor.
select n, history, machine, version, hash, input, forked_from, forked_seq, status, seq, attempts, reason, mark, first
from actor
where id = ?;

-- name: snapshot_to
-- The latest snapshot at or before a step; as bytes, since damaged ones may be no text.
select seq, version, cast(open as blob), cast(body as blob)
from snapshot
where actor = ? and seq <= ?
order by seq desc
limit 1;

-- name: version_after
-- The next snapshot after a step, and its version.
select seq, version
from snapshot
where actor = ? and seq > ?
order by seq
limit 1;

-- name: first_step
-- The first step of an actor that is in its journal.
select first
from actor
where n = ?;

-- name: mark_of
-- The name of the latest commit of an actor.
select mark
from actor
where id = ?;

-- name: history_of
-- The ids of the history of an actor, and its last step.
select history, seq
from actor
where n = ?;

-- name: summary
-- A root actor as in the list.
select id, machine, status, seq, updated
from actor
where id = ?;

-- name: set_failure
-- Failed attempts to load an actor.
update actor
set attempts = ?, reason = ?
where n = ?;

-- name: move_actor
-- The fence: moves an actor on only if nobody else has.
update actor
set seq = ?1, status = ?2, updated = ?3, mark = ?4, tenure = max(tenure, ?5), projection = coalesce(?8, projection)
where n = ?6 and seq = ?7 and (?5 = 0 or tenure <= ?5);

-- name: place_of
-- The last step and the latest tenure of an actor.
select seq, tenure
from actor
where n = ?;

-- name: change_version
-- Another version of the machine an actor runs.
update actor
set version = ?, hash = ?
where n = ?;

-- name: snapshot_sizes
-- The snapshots before a step, with their sizes; those that a journal begins with are marked.
select snapshot.seq, size, journal,
  snapshot.seq = first - 1 or (snapshot.seq = 1 and forked_from is not null)
from snapshot
join actor on actor.n = snapshot.actor
where snapshot.actor = ? and snapshot.seq < ?
order by snapshot.seq;

-- name: journal_size
-- How many entries lie between two steps, and the size of their bodies.
select count(*), coalesce(sum(length(body)), 0)
from entry
where place > (?1 << 32) + ?2 and place <= (?1 << 32) + ?3;

-- name: drop_snapshot
-- A snapshot that is no longer kept.
delete from snapshot
where actor = ? and seq = ?;

-- name: save_snapshot
-- The latest snapshot.
insert into snapshot (actor, seq, size, journal, version, open, body)
values (?1, ?2, ?3, ?4, (select version from actor where n = ?1), ?5, ?6)
on conflict (actor, seq) do update
set size = excluded.size, journal = excluded.journal, version = excluded.version, open = excluded.open,
  body = excluded.body;

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
insert into letter (actor, id, at, due, arrival, starts, body)
values (?, ?, ?, ?, ?, ?, ?)
on conflict do nothing;

-- name: letter
-- A letter that waits.
select id
from letter
where actor = ? and id = ?;

-- name: drop_letter
-- A letter that is done with.
delete from letter
where actor = ? and id = ?;

-- name: letters_of
-- An inbox, in order.
select id, at, due, arrival, starts, body
from letter
where actor = ?
order by due, at, arrival, id;

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
insert into task (actor, id, recipient, src, input, safety, attempt, epoch, starts)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (actor, id) do update
set recipient = excluded.recipient, src = excluded.src, input = excluded.input, safety = excluded.safety,
  attempt = excluded.attempt, epoch = excluded.epoch, starts = excluded.starts;

-- name: end_task
-- Work that is over; how it ended is in the journal.
delete from task
where actor = ? and id = ?;

-- name: tasks_of
-- The running tasks of an actor.
select id, recipient, src, input, safety, attempt, epoch, starts
from task
where actor = ?
order by id;

-- name: running_tasks
-- All running tasks.
select actor.id, task.id, recipient, src, task.input, safety, attempt, epoch, starts
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

-- name: dead_letter
-- Why a letter is dead.
select error
from dead_letter
where actor = ? and id = ?;

-- name: drop_dead_letter
-- A dead letter that is retried or discarded.
delete from dead_letter
where actor = ? and id = ?;

-- name: add_rejection
-- The outcome of a letter that no transition took.
insert into rejection (actor, id, at, seq, can, problem)
values (?, ?, ?, ?, ?, ?)
on conflict (actor, id) do update
set at = excluded.at, seq = excluded.seq, can = excluded.can, problem = excluded.problem;

-- name: rejection
-- The outcome of a letter that no transition took.
select id, at, seq, can, problem
from rejection
where actor = ? and id = ?;

-- name: drop_rejection
-- The outcome of a letter that was posted again.
delete from rejection
where actor = ? and id = ?;

-- name: add_incident
-- Something that an operator should know about.
insert into incident (actor, seq, at, kind, detail)
values (?, ?, ?, ?, ?);

-- name: incidents_of
-- The incidents of an actor.
select seq, at, kind, detail
from incident
where actor = ?
order by n;

-- name: roots
-- Root actors by id.
select id, machine, status, seq, updated
from actor
where id > ?
order by id
limit ?;

-- name: remove_rejections
-- The outcomes of letters that no transition of a root actor took, deleted.
delete from rejection
where actor = ?;

-- name: remove_incidents
-- The incidents of a root actor, deleted.
delete from incident
where actor = ?;

-- name: remove_dead_letters
-- The letters that no step of a root actor could take, deleted.
delete from dead_letter
where actor = ?;

-- name: remove_tasks
-- The tasks of a root actor, deleted.
delete from task
where actor = ?;

-- name: remove_letters
-- The letters that wait for a root actor, deleted.
delete from letter
where actor = ?;

-- name: remove_entries
-- The steps of a root actor, deleted.
delete from entry
where place > ?1 << 32 and place < (?1 + 1) << 32;

-- name: remove_snapshots
-- The snapshots of a root actor, deleted.
delete from snapshot
where actor = ?;

-- name: remove_actor
-- A root actor, deleted.
delete from actor
where n = ?;
