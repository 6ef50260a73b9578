-- The provider knows a template by its name and language: two of ours must not mean the same one of theirs.
create unique index template_provider on template
  (company_id, (content->'provider'->>'name'), (content->'provider'->>'language')) where channel = 'whatsapp';
