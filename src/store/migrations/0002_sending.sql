-- What is needed to accept a message: lines, templates, media, contacts and their state, rules, messages.

create table line (
  id uuid primary key,
  company_id uuid not null references company on delete cascade,
  name text not null,
  channel text not null check (channel in ('email', 'sms', 'whatsapp')),
  country_code int,
  phone_number bigint,
  email text,
  driver text not null,
  settings jsonb not null default '{}',
  secrets_sealed bytea,
  is_default boolean not null default false,
  is_prospect boolean not null default false,
  is_enabled boolean not null default true,
  paused_at timestamptz,
  paused_reason text,
  rate_per_second real not null default 50,
  in_flight_limit int not null default 32,
  -- Segments this line serves; empty: all.
  segment_ids uuid[] not null default '{}',
  failover_line_ids uuid[] not null default '{}',
  created_at timestamptz not null default now(),
  check ((channel = 'email') = (email is not null)),
  check ((channel <> 'email') = (phone_number is not null))
);
create unique index on line (company_id, channel, country_code, phone_number) where phone_number is not null;
create unique index on line (company_id, lower(email)) where email is not null;
create unique index on line (company_id, channel) where is_default;

create table template (
  id uuid primary key,
  company_id uuid not null references company on delete cascade,
  name text not null,
  name_key text not null,
  code text not null,
  code_key text not null,
  channel text not null check (channel in ('email', 'sms', 'whatsapp')),
  kind text not null check (kind in ('text', 'carousel', 'verification')),
  is_enabled boolean not null default true,
  approval text not null default 'approved' check (approval in ('approved', 'pending', 'rejected', 'paused', 'disabled')),
  -- Subject, header, body, footer, buttons, cards, variables, the provider's name and language: domain/template.ts.
  content jsonb not null,
  created_at timestamptz not null default now(),
  unique (company_id, name_key),
  unique (company_id, code_key)
);

-- Files once by content, in chunks, within a company (equal content of two companies stays two files).
create table file (
  company_id uuid not null references company on delete cascade,
  hash bytea not null,
  size bigint not null,
  stored_at timestamptz not null default now(),
  referenced_at timestamptz not null default now(),
  primary key (company_id, hash)
);
create table file_chunk (
  company_id uuid not null,
  hash bytea not null,
  position int not null,
  bytes bytea not null,
  primary key (company_id, hash, position),
  foreign key (company_id, hash) references file on delete cascade
);
alter table file_chunk alter column bytes set storage external;

create table media_item (
  id uuid primary key,
  company_id uuid not null references company on delete cascade,
  name text not null,
  extension text not null,
  mime_type text not null,
  hash bytea not null,
  size bigint not null,
  created_at timestamptz not null default now(),
  foreign key (company_id, hash) references file
);
create index on media_item (company_id, id);

create table contact (
  id uuid primary key,
  company_id uuid not null references company on delete cascade,
  phone text,
  phone_key text,
  email text,
  email_key text,
  name text,
  tax_id text,
  custom_code text,
  tag text,
  jokers text[],
  segment_id uuid,
  last_interaction_at timestamptz,
  -- Channels the person wants nothing on.
  opted_out_channels text[] not null default '{}',
  created_at timestamptz not null default now()
) with (fillfactor = 80);
-- Unique over company and address; last_interaction_at is in no index, so an accepted message updates in place.
create unique index contact_phone on contact (company_id, phone_key) where phone_key is not null;
create unique index contact_email on contact (company_id, email_key) where email_key is not null;

create table contact_window (
  contact_id uuid not null references contact on delete cascade,
  line_id uuid not null references line on delete cascade,
  received_at timestamptz not null,
  primary key (contact_id, line_id)
);

create table attendance (
  id uuid primary key,
  company_id uuid not null references company on delete cascade,
  contact_id uuid not null references contact on delete cascade,
  user_id uuid not null references app_user on delete cascade,
  opened_at timestamptz not null,
  active_at timestamptz not null,
  closed_at timestamptz,
  closed_by text
);
create unique index attendance_open on attendance (contact_id) where closed_at is null;
create index on attendance (company_id, active_at) where closed_at is null;

create table rule (
  id uuid primary key,
  company_id uuid not null references company on delete cascade,
  kind text not null,
  name text not null,
  action text not null default 'block' check (action in ('block', 'defer')),
  is_enabled boolean not null default true,
  apis text[] not null default '{unified,direct}',
  channels text[] not null default '{email,sms,whatsapp}',
  segment_ids uuid[] not null default '{}',
  settings jsonb not null default '{}',
  position int not null default 0,
  created_at timestamptz not null default now()
);
create index on rule (company_id, position, id);

create table restriction_list (
  id uuid primary key,
  company_id uuid not null references company on delete cascade,
  name text not null,
  name_key text not null,
  created_at timestamptz not null default now(),
  unique (company_id, name_key)
);

create table restriction_entry (
  list_id uuid not null references restriction_list on delete cascade,
  field text not null check (field in ('phone', 'email', 'document', 'contract')),
  is_prefix boolean not null default false,
  value text not null,
  expires_at timestamptz,
  primary key (list_id, field, is_prefix, value)
);

-- Caps per contact and fixed period, and the last time a content was sent: in place, under the contact's lock.
create table contact_counter (
  contact_id uuid not null references contact on delete cascade,
  key text not null,
  count int not null,
  at timestamptz not null,
  primary key (contact_id, key)
) with (fillfactor = 80);

-- Messages and their events are partitioned by the message's UUIDv7, whose first 48 bits are its time: the id
-- alone is the key, prunes, and names its month. No foreign keys to them: retention drops whole partitions.
create table message (
  id uuid not null primary key,
  company_id uuid not null,
  api text not null,
  channel text not null,
  state text not null,
  contact_id uuid,
  recipient text not null,
  line_id uuid,
  template_id uuid,
  segment_id uuid,
  -- The user (unified) or token (direct) that sent it.
  sender_id uuid,
  request_id text not null,
  call_id text,
  contract_code text,
  document_number text,
  -- What drivers send, rendered: domain/message.ts.
  content jsonb not null,
  callback jsonb,
  -- Why it was refused, or why it waits; empty when nothing stood in the way.
  reasons jsonb,
  error_code text,
  error_message text,
  priority smallint not null,
  accepted_at timestamptz not null,
  expires_at timestamptz not null,
  handed_over_at timestamptz,
  settled_at timestamptz
) partition by range (id) ;
create index message_log on message (company_id, id);
create index message_recipient on message (company_id, recipient, id);
create index message_call on message (company_id, call_id) where call_id is not null;

-- Where the trouble is, for the log without a date range. A table of its own and not a partial index: an index that
-- names `state`, even in its predicate, would make every change of state rewrite all indexes (no HOT update).
create table message_trouble (
  company_id uuid not null,
  state text not null,
  message_id uuid not null,
  primary key (company_id, state, message_id)
);
create function note_trouble() returns trigger language plpgsql as $$
begin
  insert into message_trouble (company_id, state, message_id) values (new.company_id, new.state, new.id) on conflict do nothing;
  return null;
end $$;
create trigger trouble after insert or update of state on message for each row
  when (new.state in ('failed', 'blocked', 'unknown')) execute function note_trouble();

create table message_event (
  message_id uuid not null,
  at timestamptz not null,
  kind text not null,
  detail jsonb
) partition by range (message_id);
create index message_event_message on message_event (message_id);

-- The outbox: what still has to leave, written in the transaction that accepts. A message is `sending` while its
-- entry carries a hand-over mark; the message's own row is not touched until it is settled.
create table outbox (
  message_id uuid primary key,
  company_id uuid not null,
  line_id uuid not null,
  contact_id uuid not null,
  priority smallint not null,
  due_at timestamptz not null,
  expires_at timestamptz not null,
  attempts smallint not null default 0,
  -- Set when the rules said "not yet": the decision is taken again before it leaves.
  is_deferred boolean not null default false,
  -- The caller named this very line: never fails over.
  is_pinned boolean not null default false,
  -- Provider ids of parts that an earlier attempt handed over (null: not taken): a retry repeats nothing.
  taken_ids text[],
  -- Hand-over mark: the owner's epoch that began to write it to the provider.
  handed_over_epoch bigint
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000);
create index outbox_due on outbox (line_id, priority, due_at, message_id) where handed_over_epoch is null and not is_deferred;
create index outbox_deferred on outbox (due_at) where is_deferred;
create index outbox_marked on outbox (line_id, handed_over_epoch) where handed_over_epoch is not null;
create index outbox_expiry on outbox (expires_at);

create table idempotency (
  company_id uuid not null,
  route text not null,
  key text not null,
  body_hash bytea not null,
  message_id uuid not null,
  request_id text not null,
  answer jsonb not null,
  created_at timestamptz not null,
  primary key (company_id, route, key)
);
create index on idempotency (created_at);

-- Report counters: append-only deltas, one row per batch and combination, folded by housekeeping. (One shared
-- row per combination took 16 connections from 8.7 k to 2.9 k commits per second.)
create table report_delta (
  id bigint generated always as identity primary key,
  company_id uuid not null,
  hour timestamptz not null,
  api text not null,
  channel text not null,
  line_id uuid,
  template_id uuid,
  segment_id uuid,
  outcome text not null,
  -- For `delivered`: the histogram bucket of the time since it was accepted.
  latency_bucket smallint,
  count int not null
);

-- Anything a sender keeps in memory raises the company's catalogue version, in the same transaction.
create function raise_catalogue_version() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    update company set catalogue_version = catalogue_version + 1 where id = old.company_id;
  else
    update company set catalogue_version = catalogue_version + 1 where id = new.company_id;
  end if;
  return null;
end $$;
create trigger catalogue after insert or update or delete on line for each row execute function raise_catalogue_version();
create trigger catalogue after insert or update or delete on template for each row execute function raise_catalogue_version();
create trigger catalogue after insert or update or delete on segment for each row execute function raise_catalogue_version();
create trigger catalogue after insert or update or delete on rule for each row execute function raise_catalogue_version();
create trigger catalogue after insert or update or delete on restriction_list for each row execute function raise_catalogue_version();
create trigger catalogue after insert or update or delete on app_user for each row execute function raise_catalogue_version();
create function raise_own_catalogue_version() returns trigger language plpgsql as $$
begin
  new.catalogue_version := old.catalogue_version + 1;
  return new;
end $$;
create trigger catalogue before update on company for each row
  when (old.catalogue_version = new.catalogue_version) execute function raise_own_catalogue_version();
