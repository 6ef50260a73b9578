-- What the deltas of report_delta add up to. Reports read both, so that nothing waits for housekeeping.
create table report_hour (
  company_id uuid not null references company on delete cascade,
  hour timestamptz not null,
  api text not null,
  channel text not null,
  line_id uuid,
  template_id uuid,
  segment_id uuid,
  outcome text not null,
  count bigint not null,
  unique nulls not distinct (company_id, hour, api, channel, line_id, template_id, segment_id, outcome)
);
