-- Lines that a waiting message has left because they could not send: it never goes back, so that two lines that name
-- each other do not throw it to and fro.
alter table outbox add column left_line_ids uuid[];
