-- How the session of a line is doing, as the worker that drives it sees it: for people, and for nothing that decides.
-- Unlogged: after a crash it is written anew within seconds.
create unlogged table line_health (
  line_id uuid primary key references line on delete cascade,
  -- Of the lane: what a former owner still writes is refused.
  epoch bigint not null,
  is_up boolean not null,
  detail text not null,
  -- While the breaker is open: until then nothing is handed over.
  held_until timestamptz,
  last_error jsonb
);
