-- Deletes the rest of removed endpoints, and events of closed accounts, at most p_limit rows; returns how many.
-- Deliveries are deleted by id first, so that the triggers that delete them per event or receiver find none. Endpoints
-- come last, but not one that spread_webhook_events has locked: the deliveries that it creates are found the next time.
create or replace function forget_webhooks(p_limit integer) returns integer
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
declare
  v_endpoint text;
  v_ids text[];
  v_receivers bigint[];
  v_rows integer;
  v_done integer := 0;
begin
  -- Endpoints that were removed before their account began to move are not moved, so they may be deleted.
  perform set_config('eloquentpoll.moving', 'on', true);
  -- A closed account may still have an endpoint, made by a request that was authenticated before.
  perform remove_webhook_endpoints(c.account_id, null) from (
    select distinct e.account_id from accounts a join webhook_endpoints e on e.account_id = a.id
     where a.deleted_at is not null and a.emptied_at is null and (a.keep_until is null or a.keep_until < now())
       and e.removed_at is null) c;
  for v_endpoint in select id from webhook_endpoints where removed_at is not null order by removed_at loop
    v_ids := array(select id from webhook_deliveries where endpoint_id = v_endpoint limit p_limit - v_done for update skip locked);
    delete from webhook_deliveries where id = any(v_ids);
    v_done := v_done + cardinality(v_ids);
    exit when v_done >= p_limit;
    v_receivers := array(
      select r.id from webhook_receivers r
       where r.endpoint_id = v_endpoint and not exists (select from webhook_deliveries d where d.receiver_id = r.id)
       limit p_limit - v_done for update skip locked);
    delete from webhook_receivers where id = any(v_receivers);
    v_done := v_done + cardinality(v_receivers);
    exit when v_done >= p_limit;
    delete from webhook_endpoints where id = any(array(
      select e.id from webhook_endpoints e
       where e.id = v_endpoint and e.removed_at is not null
         and not exists (select from webhook_receivers r where r.endpoint_id = e.id)
       for update skip locked));
    get diagnostics v_rows = row_count;
    v_done := v_done + v_rows;
  end loop;
  if v_done >= p_limit then
    return v_done;
  end if;
  v_ids := array(
    -- Account by account, and by index only: see closed-accounts.ts.
    select e.id from accounts a cross join lateral (
      select id from webhook_events where account_id = a.id limit p_limit - v_done for update skip locked) e
     where a.deleted_at is not null and a.emptied_at is null and (a.keep_until is null or a.keep_until < now())
     limit p_limit - v_done);
  delete from webhook_deliveries where event_id = any(v_ids);
  delete from webhook_events where id = any(v_ids);
  return v_done + cardinality(v_ids);
end $$;
