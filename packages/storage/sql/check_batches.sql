-- Batches with ids in (p_after, p_to] with counters that do not match their rows, or with a reservation after the end.
create or replace function check_batches(p_after text, p_to text) returns table (rule text, subject text, found text)
language plpgsql stable set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
  return query
select 'batch_rows', b.id, format('counted %s, rows %s', b.counted, r.counted)
  from (select id, array[total, running, succeeded, partial, failed, canceled] as counted
          from batches where id > p_after and id <= p_to and status not in ('loading', 'deleted')) b
  cross join lateral (
    select array[count(*), count(poll_id) filter (where outcome is null), count(*) filter (where outcome = 'success'),
                 count(*) filter (where outcome = 'partial'), count(*) filter (where outcome = 'failed'),
                 count(*) filter (where outcome = 'canceled')]::integer[] as counted
      from batch_rows where batch_id = b.id) r
 where b.counted is distinct from r.counted
union all
select 'reserved', b.id, format('%s, and %s are reserved', b.status, b.reserved_u)
  from batches b
 where b.id > p_after and b.id <= p_to and b.reserved_u <> 0 and b.status not in ('running', 'canceling');
end $$;
