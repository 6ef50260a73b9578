-- A mail server said that there is no such mailbox: nothing more is sent there until a person clears it.
alter table contact add column email_bounced_at timestamptz;

-- What of an alert has been told to the operator: nothing yet, that it was raised, that it is over.
alter table alert add column told text check (told in ('raised', 'cleared'));
create index alert_untold on alert (raised_at) where told is null or (told = 'raised' and cleared_at is not null);

-- One row per alert, event and way of telling, until it is told or given up.
create table alert_notice (
  alert_id uuid not null references alert on delete cascade,
  event text not null check (event in ('raised', 'cleared')),
  way text not null check (way in ('email', 'webhook')),
  tries smallint not null default 0,
  try_at timestamptz not null,
  primary key (alert_id, event, way)
);
create index on alert_notice (try_at);
