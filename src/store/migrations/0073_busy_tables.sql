-- No query looks into these columns, and sorting documents for statistics took a tenth of a busy machine: the tables
-- grow fast, so they are analysed often. Partitions that are still to come get the same in store/partitions.ts.
alter table message alter column content set statistics 0, alter column callback set statistics 0, alter column reasons set statistics 0;
alter table message_event alter column detail set statistics 0;
alter table contact alter column jokers set statistics 0, alter column opted_out_channels set statistics 0;

-- What these hold changes all the time, but not what is typical of it. Their busiest statements are planned without
-- statistics anyway (`isForLookups`).
alter table contact set (fillfactor = 65, autovacuum_analyze_scale_factor = 1);
alter table outbox set (autovacuum_analyze_threshold = 500000);

-- A message changes its state in the same page, so that no index is touched, only where there is room for its next
-- version. Messages of one page leave together: room for all of them (with a quarter of the page free, half of the
-- changes went elsewhere). Months that are still to come: store/partitions.ts.
do $$
declare month record;
begin
  for month in select c.oid::regclass as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'message'::regclass and c.relname <> 'message_default'
  loop
    execute format('alter table %s set (fillfactor = 50)', month.name);
  end loop;
end $$;

-- What is handed over does not expire: marking it leaves this index alone.
drop index outbox_expiry;
create index outbox_expiry on outbox (expires_at) where handed_over_epoch is null;
