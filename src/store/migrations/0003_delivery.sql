-- Delivering: who drives which line, what providers call a message, and what they report.

-- One heartbeat row per worker; leases are judged by the database's clock.
create table worker (
  id uuid primary key,
  name text not null,
  beat_at timestamptz not null,
  started_at timestamptz not null
);

-- A lane is a line being driven. Taking it over raises the epoch: what an older owner still writes is refused.
create table lane (
  line_id uuid primary key references line on delete cascade,
  company_id uuid not null,
  owner_id uuid,
  epoch bigint not null default 0
);
create index on lane (owner_id);
insert into lane (line_id, company_id) select id, company_id from line;
create function make_lane() returns trigger language plpgsql as $$
begin
  insert into lane (line_id, company_id) values (new.id, new.company_id);
  return null;
end $$;
create trigger lane after insert on line for each row execute function make_lane();

-- The provider's id of each part of a message. Uniqueness cannot live in a partitioned table, so it lives here.
create table provider_reference (
  line_id uuid not null,
  provider_id text not null,
  message_id uuid not null,
  part smallint not null,
  parts smallint not null,
  -- Of this part; only kept for messages of several parts.
  state text,
  created_at timestamptz not null,
  primary key (line_id, provider_id)
);
create index on provider_reference (message_id) where parts > 1;
create index on provider_reference (created_at);

-- Receipts that came before our own record of the provider's id; matched by a sweep, dropped when old.
create table early_receipt (
  id bigint generated always as identity primary key,
  line_id uuid not null,
  provider_id text not null,
  receipt jsonb not null,
  received_at timestamptz not null
);
create index on early_receipt (line_id, provider_id);

-- Handed over without an answer: waits for a receipt until `resolve_at`, then the company's policy decides.
create table unknown_message (
  message_id uuid primary key,
  company_id uuid not null,
  line_id uuid not null,
  contact_id uuid not null,
  priority smallint not null,
  expires_at timestamptz not null,
  is_pinned boolean not null,
  attempts smallint not null,
  resolve_at timestamptz not null
);
create index on unknown_message (resolve_at);

create table alert (
  id uuid primary key,
  company_id uuid references company on delete cascade,
  kind text not null,
  -- What it is about; one open alert per kind and subject.
  subject text not null,
  message text not null,
  raised_at timestamptz not null,
  cleared_at timestamptz
);
create unique index alert_open on alert (kind, subject) where cleared_at is null;
create index on alert (company_id, id);
