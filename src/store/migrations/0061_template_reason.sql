-- Why the provider rejected, paused or disabled a template, in its own words.
alter table template add column approval_reason text;
