-- Only tasks that are running: nobody reads the others, and how they ended is in the journal. Clustered by actor, and
-- without an index, since there are few: a task that begins or ends writes one page, next to those of its actor.
alter table task rename to task_before;

create table task (
  actor integer not null references actor (n),
  id text not null,
  recipient text not null,
  src text not null,
  input text not null,
  safety text not null check (safety in ('repeat', 'report', 'once')),
  attempt integer not null,
  epoch integer not null,
  primary key (actor, id)
) strict, without rowid;

insert into task (actor, id, recipient, src, input, safety, attempt, epoch)
select actor, id, recipient, src, input, safety, attempt, epoch
from task_before
where state = 'running';

drop table task_before;
