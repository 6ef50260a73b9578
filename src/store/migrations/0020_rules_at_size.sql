-- Rules that stay quick with millions of entries and counters.

-- Which lengths of prefixes a list has. A lookup tries only those prefixes of a value, each as an exact key; one
-- index descent each, however many entries there are. A superset does no harm, so lengths are only ever added.
create table restriction_prefix_length (
  list_id uuid not null references restriction_list on delete cascade,
  field text not null,
  length int not null,
  primary key (list_id, field, length)
);

create function note_prefix_lengths() returns trigger language plpgsql as $$
begin
  insert into restriction_prefix_length (list_id, field, length)
  select distinct list_id, field, length(value) from added where is_prefix order by 1, 2, 3
  on conflict do nothing;
  return null;
end $$;
create trigger prefix_lengths after insert on restriction_entry
  referencing new table as added for each statement execute function note_prefix_lengths();
insert into restriction_prefix_length (list_id, field, length)
select distinct list_id, field, length(value) from restriction_entry where is_prefix;

create index restriction_entry_expiry on restriction_entry (expires_at) where expires_at is not null;

-- Contents that were sent once and are past every rule's reach are removed from here.
create index contact_counter_duplicate on contact_counter (at) where key like 'dup:%';
