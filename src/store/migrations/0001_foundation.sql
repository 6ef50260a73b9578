-- Who we serve and who may call: companies, users, tokens, segments.

create table setting (
  key text primary key,
  value jsonb not null
);

create table company (
  id uuid primary key,
  name text not null,
  name_key text not null unique,
  time_zone text not null default 'UTC',
  suspended_at timestamptz,
  token_ttl_seconds int not null default 287971200,
  attendance_idle_hours int not null default 24,
  -- What to do with a message whose hand-over got no answer: leave it to a person, or send it again.
  unknown_policy text not null default 'leave' check (unknown_policy in ('leave', 'send_again')),
  -- The account's private token is shown again in the console, so it is sealed, and hashed for the send path.
  private_token_sealed bytea not null,
  private_token_hash bytea not null,
  -- The token before the last rotation stays good until this moment.
  previous_private_token_hash bytea,
  previous_private_token_until timestamptz,
  callback_secret_sealed bytea not null,
  -- Raised by triggers whenever anything changes that a sender keeps in memory (lines, templates, rules, ...).
  catalogue_version bigint not null default 1,
  created_at timestamptz not null default now()
);

create table app_user (
  id uuid primary key,
  company_id uuid not null references company on delete cascade,
  name text not null,
  name_key text not null,
  role text not null check (role in ('administrator', 'supervisor', 'attendant', 'viewer', 'api')),
  password_hash text not null,
  disabled_at timestamptz,
  created_at timestamptz not null default now(),
  unique (company_id, name_key)
);

-- One living token per API user: the primary key is the rule.
create table api_token (
  user_id uuid primary key references app_user on delete cascade,
  company_id uuid not null references company on delete cascade,
  hash bytea not null unique,
  issued_at timestamptz not null,
  expires_at timestamptz not null
);

create table direct_token (
  id uuid primary key,
  company_id uuid not null references company on delete cascade,
  name text not null,
  hash bytea not null unique,
  channels text[] not null default '{email,sms,whatsapp}',
  -- Empty: any address may call.
  allowed_addresses text[] not null default '{}',
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index on direct_token (company_id);

-- Refused logins, for the lock-out that must hold over all processes and nodes.
create table login_failure (
  id bigint generated always as identity primary key,
  -- Hashes of (company, user, address) and of the address alone: attackers' guesses are not worth keeping.
  triple_key bytea not null,
  address_key bytea not null,
  failed_at timestamptz not null
);
create index on login_failure (triple_key, failed_at);
create index on login_failure (address_key, failed_at);
create index on login_failure (failed_at);

create table segment (
  id uuid primary key,
  company_id uuid not null references company on delete cascade,
  name text not null,
  name_key text not null,
  client_code text,
  client_code_key text,
  created_at timestamptz not null default now(),
  unique (company_id, name_key),
  unique (company_id, client_code_key)
);

create table audit_entry (
  id uuid primary key,
  company_id uuid references company on delete cascade,
  actor text not null,
  action text not null,
  noun text not null,
  noun_id text,
  detail jsonb,
  at timestamptz not null default now()
);
create index on audit_entry (company_id, id);

-- Fixed-window counters of configured request limits, shared by all processes and nodes.
create unlogged table rate_window (
  key text not null,
  window_start timestamptz not null,
  count int not null,
  primary key (key, window_start)
);
