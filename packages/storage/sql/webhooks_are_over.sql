-- Whether a month's webhook log is no longer shown to any caller, and nothing in it waits to be sent.
create or replace function webhooks_are_over(p_month months) returns boolean
language plpgsql stable set search_path = public, pg_temp set enable_seqscan = off as $$
declare
  v_found boolean;
begin
  if p_month.ends_at > now() - interval '31 days' then
    return false;
  end if;
  execute format('select exists (select from %I where spread_at is null) or exists (select from %I where status = ''pending'')',
                 'webhook_events_' || p_month.name, 'webhook_deliveries_' || p_month.name) into v_found;
  return not v_found;
end $$;
