-- Creates the deliveries of at most p_limit new events, oldest first: one for each endpoint that wants the type, and
-- one for a webhook_url. An endpoint with p_max_pending waiting deliveries gets no more: it counts those it missed.
-- Returns the number of events.
create or replace function spread_webhook_events(p_limit integer, p_max_pending integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_ids text[];
begin
  select coalesce(array_agg(id order by created_at), '{}') into v_ids from (
    select id, created_at from webhook_events where spread_at is null
     order by created_at limit p_limit for update skip locked) e;
  if cardinality(v_ids) = 0 then return 0; end if;

  with taken as (
    update webhook_events set spread_at = now() where id = any(v_ids)
    returning id, account_id, type, url, created_at
  ), endpoints as (
    -- Wait for endpoints that are being deleted: a delivery to one would be refused, and all others with it.
    select id, account_id, url, event_types, created_at from webhook_endpoints
     where account_id in (select account_id from taken) and disabled_at is null order by id for key share
  ), aimed as (
    select t.id as event_id, t.account_id, e.id as endpoint_id, case when e.url is null then t.url end as url,
           substring(coalesce(e.url, t.url) from '^[^/]*//[^/?#]*') as origin,
           row_number() over (partition by e.id order by t.created_at) as place
      from taken t join endpoints e on e.account_id = t.account_id
       and case when e.url is null then t.url is not null else t.type = any(e.event_types) and e.created_at <= t.created_at end
  ), space as (
    select endpoint_id, p_max_pending - (
             select count(*) from (select from webhook_deliveries d
               where d.endpoint_id = a.endpoint_id and d.status = 'pending' limit p_max_pending) waiting) as places
      from (select distinct endpoint_id from aimed) a
  ), kept as (
    select a.* from aimed a join space r using (endpoint_id) where a.place <= r.places
  ), missed as (
    update webhook_endpoints e set skipped = skipped + m.events
      from (select a.endpoint_id, count(*)::integer as events from aimed a join space r using (endpoint_id)
             where a.place > r.places group by a.endpoint_id) m
     where e.id = m.endpoint_id
  ), receivers as (
    insert into webhook_receivers as r (endpoint_id, account_id, origin, next_due_at)
    select distinct endpoint_id, account_id, origin, now() from kept order by endpoint_id, origin
    on conflict (endpoint_id, origin) do update
      set next_due_at = least(r.next_due_at, greatest(now(), r.resting_until)), used_at = now()
    returning id, endpoint_id, origin
  )
  insert into webhook_deliveries (event_id, endpoint_id, receiver_id, account_id, url)
  select k.event_id, k.endpoint_id, r.id, k.account_id, k.url from kept k join receivers r using (endpoint_id, origin);
  return cardinality(v_ids);
end $$;
