-- Letters by their own id first: those that come one after the other are neighbours, whoever they are for, so a
-- commit of many actors writes one page of the index instead of one for each.
drop index entry_letter;

create unique index entry_letter on entry (letter, actor) where letter is not null;
