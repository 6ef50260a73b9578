-- These only ever grow, and what is typical of them stays so: a tenth of PostgreSQL's time went into finding that out
-- again and again while they were small. Months that are still to come: store/partitions.ts.
alter table provider_reference set (autovacuum_analyze_threshold = 50000, autovacuum_analyze_scale_factor = 0.2);
do $$
declare month record;
begin
  for month in select i.inhrelid::regclass as name from pg_inherits i
    where i.inhparent in ('message'::regclass, 'message_event'::regclass)
  loop
    execute format('alter table %s set (autovacuum_analyze_threshold = 50000, autovacuum_analyze_scale_factor = 0.2)', month.name);
  end loop;
end $$;
