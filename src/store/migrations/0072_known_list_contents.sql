-- Senders keep in memory what a list has entries of, and look nothing else up. New contents are rare: the first entry
-- of a field, or the first prefix of a length.
create function raise_catalogue_version_of_list() returns trigger language plpgsql as $$
begin
  update company set catalogue_version = catalogue_version + 1
  where id in (select l.company_id from added a join restriction_list l on l.id = a.list_id);
  return null;
end $$;
create trigger catalogue after insert on restriction_shape
  referencing new table as added for each statement execute function raise_catalogue_version_of_list();
