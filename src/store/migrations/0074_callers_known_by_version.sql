-- A serving process recalls callers as of a version of their company. What a direct token may do is part of that.
create trigger catalogue after update on direct_token for each row
  when (old.channels is distinct from new.channels or old.allowed_addresses is distinct from new.allowed_addresses)
  execute function raise_catalogue_version();
