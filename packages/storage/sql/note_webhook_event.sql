-- Writes down what an account may hear of by webhook, in the transaction in which it happened. Without an endpoint that
-- wants this type, and without p_url (the webhook_url of the poll or batch), nothing is written.
create or replace function note_webhook_event(p_account uuid, p_type text, p_data jsonb, p_url text default null)
returns void language plpgsql set search_path = public, pg_temp as $$
begin
  if p_url is not null or hears_webhooks(p_account, p_type) then
    insert into webhook_events (account_id, type, data, url) values (p_account, p_type, p_data, p_url);
  end if;
end $$;
