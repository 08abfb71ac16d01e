-- What is sent of an event, or to a receiver, goes with it. No foreign key: a month of events is dropped without a look at
-- its deliveries, and a month of deliveries without a lock of the endpoints.
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
