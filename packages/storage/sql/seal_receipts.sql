-- Takes the next step for the oldest finished day without a seal: files at most p_max leaves (a multiple of 256); then
-- one page of a higher level, with the roots of 256 pages; finally the seal. Returns 'page', 'day', or null if there is
-- nothing to do. A leaf that was still being written when its day was filed counts towards the next day, so a sealed
-- day never changes. A day is filed once it has a page that is not full, or a page of a higher level.
create or replace function seal_receipts(p_max integer) returns text
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_day date;
  v_pages integer;
  v_filed integer;
  v_last bytea;
  v_level smallint := 0;
  v_next integer;
  v_root bytea;
  v_receipts integer;
begin
  lock table receipt_pages in share row exclusive mode;
  v_day := day_to_seal();
  -- The time of transactions that are about to end may still be before midnight.
  if v_day is null or v_day >= ((now() - interval '1 minute') at time zone 'utc')::date then
    return null;
  end if;
  -- A move between cells may have added the same leaf again on a later day.
  with late as (delete from receipt_leaves where day < v_day returning leaf)
  insert into receipt_leaves (day, leaf) select v_day, leaf from late on conflict do nothing;

  select page + 1, hashes into v_pages, v_last
    from receipt_pages where day = v_day and level = 0 order by page desc limit 1;
  if coalesce(octet_length(v_last), 8192) = 8192 and not exists (select from receipt_pages where day = v_day and level = 1) then
    v_last := coalesce(substring(v_last from 8161), '');
    with taken as (
      -- The limit is found in the same snapshot, or a leaf that is committed meanwhile would be one too many.
      delete from receipt_leaves where day = v_day and leaf > v_last and leaf <= (
        select leaf from (
          select leaf from receipt_leaves where day = v_day and leaf > v_last order by leaf limit p_max) next
         order by leaf desc limit 1)
      returning leaf
    ), placed as (
      select leaf, (row_number() over (order by leaf) - 1) / 256 as page from taken
    ), filed as (
      insert into receipt_pages (day, level, page, first, hashes)
      select v_day, 0, coalesce(v_pages, 0) + page, (array_agg(leaf order by leaf))[1], string_agg(leaf, '' order by leaf) from placed group by page
    )
    select count(*) into v_filed from taken;
    if v_filed > 0 and (v_filed = p_max or v_pages is not null or v_filed > 256) then
      return 'page';
    end if;
  end if;

  loop
    select max(page) + 1 into v_pages from receipt_pages where day = v_day and level = v_level;
    exit when v_pages = 1;
    select coalesce(max(page) + 1, 0) into v_next from receipt_pages where day = v_day and level = v_level + 1;
    if v_next * 256 < v_pages then
      select string_agg(merkle_root(hashes), '' order by page) into v_root
        from receipt_pages where day = v_day and level = v_level and page >= v_next * 256 and page < (v_next + 1) * 256;
      insert into receipt_pages (day, level, page, first, hashes)
      values (v_day, v_level + 1, v_next, substring(v_root for 32), v_root);
      return 'page';
    end if;
    v_level := v_level + 1;
  end loop;
  select merkle_root(hashes) into v_root from receipt_pages where day = v_day and level = v_level and page = 0;
  select page * 256 + octet_length(hashes) / 32 into v_receipts
    from receipt_pages where day = v_day and level = 0 order by page desc limit 1;
  insert into receipt_days (day, receipts, root, seal)
  values (v_day, v_receipts, v_root,
          sha256(coalesce((select seal from receipt_days order by day desc limit 1), '')
                 || convert_to(v_day::text, 'UTF8') || int8send(v_receipts) || v_root));
  return 'day';
end $$;
