-- The problem of a stored letter whose event is not as its recipient declares it.
alter table rejection add column problem text;
