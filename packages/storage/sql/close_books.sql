-- Takes the next step with transfers up to p_final_id, which must be final: closes a page of at most p_max transfers
-- (and at least p_min if it is of today), or seals a day. Returns 'page', 'day', or null if there is nothing to do. A
-- page has transfers of one UTC day. A transfer that was still being written when its day was sealed counts towards the
-- next day, so a sealed day never changes.
create or replace function close_books(p_final_id bigint, p_min integer, p_max integer) returns text
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_after bigint;
  v_last bigint;
  v_count integer;
  v_day date;
  v_open_day date;
  v_sealed date;
  v_next_day date;
  v_today constant date := (now() at time zone 'utc')::date;
  v_proved boolean;
begin
  lock table ledger_pages in share row exclusive mode;
  v_after := closed_to();
  select max(day) into v_sealed from ledger_seals;
  select max(day) into v_open_day from ledger_pages where day > coalesce(v_sealed, '-infinity');
  select (created_at at time zone 'utc')::date into v_next_day
    from transfers where id > v_after and id <= p_final_id order by id limit 1;

  if v_open_day < coalesce(v_next_day, v_today) then
    insert into ledger_seals (day, hash) values (v_open_day, hash_day(v_open_day));
    return 'day';
  end if;
  if v_next_day is null then
    return null;
  end if;

  v_day := greatest(v_open_day, v_next_day, v_sealed + 1);
  select max(id), count(*) into v_last, v_count
    from (select id, bool_and((created_at at time zone 'utc')::date <= v_day) over (order by id) as fits
            from (select id, created_at from transfers where id > v_after and id <= p_final_id order by id limit p_max) t) f
   where fits;
  if v_day = v_today and v_count < p_min then
    return null;
  end if;

  v_proved := not exists (select from check_transfers(v_after, v_last, true));
  insert into ledger_pages (day, first_id, last_id, transfers, hash, proved)
  select v_day, v_after + 1, v_last, h.transfers, h.hash, v_proved from hash_transfers(v_after, v_last) h;

  with summed as materialized (
    select * from sum_transfers(v_after, v_last) order by account_id
  ),
  added as (
    insert into ledger_day_sums as d
    select v_day, s.* from summed s
    on conflict (day, account_id) do update
      set posted_u = d.posted_u + excluded.posted_u, used_u = d.used_u + excluded.used_u,
          held_u = d.held_u + excluded.held_u, reversed_u = d.reversed_u + excluded.reversed_u,
          card_u = d.card_u + excluded.card_u, card_reversed_u = d.card_reversed_u + excluded.card_reversed_u,
          chain_u = d.chain_u + excluded.chain_u
  )
  insert into ledger_sums as l
  select * from summed
  on conflict (account_id) do update
    set posted_u = l.posted_u + excluded.posted_u, used_u = l.used_u + excluded.used_u,
        held_u = l.held_u + excluded.held_u, reversed_u = l.reversed_u + excluded.reversed_u,
        card_u = l.card_u + excluded.card_u, card_reversed_u = l.card_reversed_u + excluded.card_reversed_u,
        chain_u = l.chain_u + excluded.chain_u;

  delete from ledger_open_holds o using transfers r
   where r.id > v_after and r.id <= v_last and r.kind in ('post', 'void') and r.pending_id = o.hold_id;
  insert into ledger_open_holds (hold_id)
  select h.id from transfers h
   where h.id > v_after and h.id <= v_last and h.kind = 'hold'
     and not exists (select from transfers r where r.pending_id = h.id and r.kind in ('post', 'void') and r.id <= v_last);
  return 'page';
end $$;
