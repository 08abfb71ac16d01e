-- Stores an event for an account's webhooks in the transaction in which it happened, and returns it. Stores nothing for
-- a closed account, or if there is neither p_url (the webhook_url of the poll or batch) nor an endpoint that wants this
-- type of event.
create or replace function note_webhook_event(p_account uuid, p_type text, p_data jsonb, p_url text default null)
returns text language plpgsql set search_path = public, pg_temp as $$
declare
  v_id text;
begin
  if (p_url is not null or hears_webhooks(p_account, p_type))
     and not exists (select from accounts where id = p_account and deleted_at is not null and moved_to is null) then
    insert into webhook_events (account_id, type, data, url) values (p_account, p_type, p_data, p_url) returning id into v_id;
  end if;
  return v_id;
end $$;
