-- The first event of a message is as old as its row and stands in it: one row and one index entry less per message.
-- Messages of one batch mostly have the same. Of older messages it is in message_event.
alter table message add column acceptance jsonb, alter column acceptance set statistics 0;
do $$
declare month record;
begin
  for month in select i.inhrelid::regclass as name from pg_inherits i where i.inhparent = 'message'::regclass
  loop
    execute format('alter table %s alter column acceptance set statistics 0', month.name);
  end loop;
end $$;

-- `place`: events of one batch have the same time; within a partition rows lie in the order they were written.
create view message_history as
  select id as message_id, accepted_at as at, acceptance->>'kind' as kind,
    jsonb_strip_nulls(jsonb_build_object('requestId', request_id, 'verdicts', acceptance->'verdicts')) as detail, '(0,0)'::tid as place
  from message where acceptance is not null
  union all
  select message_id, at, kind, detail, ctid from message_event;
