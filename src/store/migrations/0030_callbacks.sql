-- Callbacks: the queue of events that receivers are told, every attempt, and how their endpoints do.

-- The secret before the last rotation signs along until this moment.
alter table company add column previous_callback_secret_sealed bytea;
alter table company add column previous_callback_secret_until timestamptz;

-- One webhook of a company, for the events of both APIs and for received messages.
create table webhook (
  company_id uuid primary key references company on delete cascade,
  url text not null,
  -- Full names (`message.sent`); empty: all.
  events text[] not null default '{}',
  secret_sealed bytea not null,
  previous_secret_sealed bytea,
  previous_secret_until timestamptz,
  disabled_at timestamptz,
  disabled_reason text,
  created_at timestamptz not null default now()
);

-- One row per event and receiver, written in the transaction that changes the message. No foreign keys: messages
-- are partitioned, and a check of the company would be paid on every settle.
create table callback (
  id bigint generated always as identity primary key,
  company_id uuid not null,
  -- The address that came with the request, or the company's webhook.
  target text not null check (target in ('request', 'webhook')),
  -- The lane it waits in, within its company: scheme, host and port, or `webhook`.
  endpoint text not null,
  -- Null: the webhook's address of the moment.
  url text,
  -- The message, or the received message.
  subject_id uuid not null,
  -- Without the `message.` before it.
  event text not null,
  at timestamptz not null,
  data jsonb not null,
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'given_up')),
  due_at timestamptz not null,
  -- Until then later events of the same message wait for this one; null: it holds nobody.
  holds_until timestamptz,
  -- How far the schedule of retries has come, and retries that the receiver asked for before their time.
  step smallint not null default 0,
  early smallint not null default 0,
  attempts smallint not null default 0,
  -- Being delivered, by the database's clock: after a crash it is due again.
  lease uuid,
  leased_until timestamptz,
  last_status smallint,
  last_error text,
  replayed_at timestamptz,
  finished_at timestamptz,
  -- Each event at most once per message and receiver.
  unique (subject_id, event, target)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
create index callback_waiting on callback (company_id, endpoint, due_at, id) where state = 'waiting';
create index callback_oldest on callback (at) where state = 'waiting';
create index callback_log on callback (company_id, id);
create index callback_given_up on callback (company_id, id) where state = 'given_up';

create table callback_attempt (
  callback_id bigint not null references callback on delete cascade,
  number smallint not null,
  at timestamptz not null,
  duration_ms int not null,
  -- Null: there was no answer, and `error` says why.
  status smallint,
  error text,
  answer text,
  primary key (callback_id, number)
);

-- Only endpoints in trouble have a row here; a success removes it.
create table callback_endpoint (
  company_id uuid not null,
  endpoint text not null,
  -- In a row, of the kind that closes the endpoint for a while: no answer, or an answer of trouble.
  failures int not null,
  failing_since timestamptz not null,
  closed_until timestamptz,
  last_error text,
  alerted_at timestamptz,
  changed_at timestamptz not null,
  primary key (company_id, endpoint)
) with (fillfactor = 80);

-- Which lane an address belongs to: host, port and the first step of the path. Behind one relay several receivers are
-- told apart, while ids further down the path do not make a lane each. Spellings that differ become two lanes, which
-- harms nobody.
create function callback_lane(url text) returns text language sql immutable parallel safe
  return left(lower(coalesce(substring(url from '^[^:]*:[/\\]*[^/\\?#]*(?:[/\\][^/\\?#]*)?'), '')), 300);
