-- The day whose receipts are filed or sealed next, perhaps today; null if there is none. Late leaves count towards the
-- day after the last sealed one.
create or replace function day_to_seal() returns date language sql stable as $$
  select coalesce((select max(p.day) from receipt_pages p where p.day > coalesce(s.day, '-infinity')),
                  (select greatest(l.day, s.day + 1) from receipt_leaves l order by l.day limit 1))
    from (select max(day) as day from receipt_days) s
$$;
