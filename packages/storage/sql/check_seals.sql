-- Seals of the days from p_from to p_to whose pages, totals or previous seal have changed. Days without transfers have
-- no pages, so the page before the first one may be from any earlier day.
create or replace function check_seals(p_from date, p_to date) returns table (rule text, subject text, found text)
language sql stable as $$
select 'seal', s.day::text, 'the pages, totals or seal before it are not those that were sealed'
  from ledger_seals s where s.day between p_from and p_to and s.hash <> hash_day(s.day)
union all
select 'page_gap', p.last_id::text, format('begins at %s, the page before it ends at %s', p.first_id, p.previous)
  from (select first_id, last_id,
               lag(last_id, 1, (select last_id from ledger_pages where day < p_from order by day desc, last_id desc limit 1))
                 over (order by last_id) as previous
          from ledger_pages where day between p_from and p_to) p
 where p.first_id <> p.previous + 1
$$;
