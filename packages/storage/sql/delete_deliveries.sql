-- Deletes the deliveries of an event or receiver with it. Not a foreign key, so that a month of events can be dropped
-- without reading its deliveries, and a month of deliveries without locking the endpoints.
create or replace function delete_deliveries() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if tg_argv[0] = 'event' then
    delete from webhook_deliveries where event_id = old.id;
  else
    delete from webhook_deliveries where receiver_id = old.id;
  end if;
  return null;
end $$;
