-- What providers report back: receipts that wait for their message, and what people write to us.

-- When the sweep looks at it again: each wait is as long as the receipt is old, so that ids which are not ours
-- (another system on the same account) cost little while they last.
alter table early_receipt add column try_at timestamptz not null default now();
create index early_receipt_try on early_receipt (try_at);

-- Null: the words of domain/stop-words.ts.
alter table company add column sms_stop_words text[];
alter table company add column sms_start_words text[];

-- WhatsApp's own switch "no marketing from this business"; everything else may still be sent.
alter table contact add column marketing_opted_out_at timestamptz;

-- Ids by which a provider names a person without telling the number.
create table contact_user_id (
  company_id uuid not null references company on delete cascade,
  user_id text not null,
  contact_id uuid not null references contact on delete cascade,
  seen_at timestamptz not null,
  primary key (company_id, user_id)
);
create index on contact_user_id (contact_id);

-- What a person wrote to a line.
create table inbound_message (
  id uuid primary key,
  company_id uuid not null references company on delete cascade,
  line_id uuid not null references line on delete cascade,
  -- Null while nobody knows who it is: the provider withheld the number, or it is none (a short code).
  contact_id uuid references contact on delete cascade,
  provider_id text not null,
  sender text,
  user_id text,
  kind text not null,
  text text not null,
  replies_to text,
  profile_name text,
  -- What it did to the contact, if anything: opted_out, opted_in.
  effect text,
  -- The provider's time, and ours.
  at timestamptz not null,
  received_at timestamptz not null,
  unique (line_id, provider_id)
);
create index on inbound_message (contact_id, id);
create index on inbound_message (company_id, id);
create index on inbound_message (company_id, user_id) where contact_id is null and user_id is not null;

create table inbound_media (
  inbound_id uuid not null references inbound_message on delete cascade,
  position smallint not null,
  company_id uuid not null,
  line_id uuid not null,
  provider_media_id text not null,
  mime_type text not null,
  name text,
  state text not null default 'pending' check (state in ('pending', 'stored', 'failed')),
  tries smallint not null default 0,
  try_at timestamptz not null,
  error text,
  hash bytea,
  size bigint,
  primary key (inbound_id, position),
  foreign key (company_id, hash) references file
);
create index inbound_media_pending on inbound_media (line_id, try_at) where state = 'pending';
create index inbound_media_file on inbound_media (company_id, hash) where hash is not null;

-- Parts of a longer SMS. Kept for a while after they were joined, so that a repeated part is known as one.
create table inbound_part (
  line_id uuid not null references line on delete cascade,
  sender text not null,
  reference int not null,
  total smallint not null,
  number smallint not null,
  company_id uuid not null,
  provider_id text not null,
  text text not null,
  at timestamptz not null,
  received_at timestamptz not null,
  joined_at timestamptz,
  primary key (line_id, sender, reference, total, number)
);
create index inbound_part_age on inbound_part (received_at);
