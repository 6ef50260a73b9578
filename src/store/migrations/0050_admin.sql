-- The console and its API: sessions, second factors, keys for programs, imports, and latency in reports.

create table admin_session (
  id uuid primary key,
  company_id uuid not null references company on delete cascade,
  user_id uuid not null references app_user on delete cascade,
  -- Of the random id in the cookie.
  hash bytea not null unique,
  created_at timestamptz not null,
  -- Moved at most once a minute.
  seen_at timestamptz not null,
  expires_at timestamptz not null,
  address text not null,
  user_agent text not null default ''
);
create index on admin_session (user_id, id);
create index on admin_session (expires_at);

-- Apart from app_user, whose every change makes all senders load their catalogue again.
create table user_totp (
  user_id uuid primary key references app_user on delete cascade,
  company_id uuid not null references company on delete cascade,
  secret_sealed bytea not null,
  -- Null until a first code has shown that the person's device knows the secret.
  confirmed_at timestamptz,
  -- The latest time step whose code was used: a code is good once.
  last_step bigint not null default 0,
  recovery_hashes bytea[] not null default '{}'
);

create table admin_key (
  id uuid primary key,
  company_id uuid not null references company on delete cascade,
  name text not null,
  hash bytea not null unique,
  scopes text[] not null,
  -- Whose messages "own" means.
  user_id uuid references app_user on delete cascade,
  created_by text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index on admin_key (company_id, id);

-- Files that people import. The bytes wait here until a process has worked through them; nodes share no disk.
create table import_job (
  id uuid primary key,
  company_id uuid not null references company on delete cascade,
  kind text not null check (kind in ('contacts', 'restrictions')),
  -- The restriction list.
  target_id uuid,
  options jsonb not null default '{}',
  file_name text not null,
  size bigint not null default 0,
  state text not null default 'uploading' check (state in ('uploading', 'queued', 'running', 'done', 'failed')),
  progress jsonb not null default '{}',
  error text,
  created_by text not null,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  -- By the database's clock: past it the process that worked on it is gone, and another starts over.
  leased_until timestamptz,
  tries smallint not null default 0
);
create index on import_job (company_id, id);
create index import_job_open on import_job (id) where state in ('uploading', 'queued', 'running');

create table import_chunk (
  job_id uuid not null references import_job on delete cascade,
  position int not null,
  bytes bytea not null,
  primary key (job_id, position)
);
alter table import_chunk alter column bytes set storage external;

create table import_error (
  job_id uuid not null references import_job on delete cascade,
  line int not null,
  reason text not null,
  primary key (job_id, line)
);

-- Searches by the beginning of a name or an address, whatever the collation of the database.
create index contact_name_prefix on contact (company_id, lower(name) text_pattern_ops, id) where name is not null;
create index contact_email_prefix on contact (company_id, email_key text_pattern_ops) where email_key is not null;
-- For listing only. Written over the text of the company's id, so that no plan of the send path can mistake it for a
-- way to find one contact: on an empty table all indexes that begin with company_id look alike, and plans are kept.
create index contact_list on contact ((company_id::text), id);
create index audit_entry_noun on audit_entry (company_id, noun, noun_id, id);

-- Percentiles need the bucket that the deltas carry.
alter table report_hour add column latency_bucket smallint;
do $$
declare old text;
begin
  select conname into old from pg_constraint where conrelid = 'report_hour'::regclass and contype = 'u';
  execute format('alter table report_hour drop constraint %I', old);
end $$;
alter table report_hour add constraint report_hour_key
  unique nulls not distinct (company_id, hour, api, channel, line_id, template_id, segment_id, outcome, latency_bucket);
