-- The history of one person, and erasing one: without it every attendance of all companies is looked at.
create index attendance_contact on attendance (contact_id, id);
