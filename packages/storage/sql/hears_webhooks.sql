-- Whether an endpoint of the account wants events of this type.
create or replace function hears_webhooks(p_account uuid, p_type text) returns boolean
language sql stable set search_path = public, pg_temp as $$
  select exists (select from webhook_endpoints
                  where account_id = p_account and url is not null and disabled_at is null and p_type = any(event_types));
$$;
