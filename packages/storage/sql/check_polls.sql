-- What the polls with ids in (p_after, p_to] should have but lack, and votes without a poll. The rules of
-- check_transfers() start from the ledger; these start from the polls.
create or replace function check_polls(p_after text, p_to text) returns table (rule text, subject text, found text)
language plpgsql stable set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
  return query
select 'poll_hold', p.id, 'without a hold'
  from polls p where p.id > p_after and p.id <= p_to
   and not exists (select from transfers h where h.idem = 'hold:' || p.id)
   and not exists (select from moved_results m where m.poll_id = p.id)
union all
select 'poll_settled', p.id, format('%s, and its hold is not resolved', p.status)
  from polls p join transfers h on h.idem = 'hold:' || p.id
 where p.id > p_after and p.id <= p_to and p.status <> 'running'
   and not exists (select from transfers r where r.pending_id = h.id and r.kind in ('post', 'void'))
union all
select 'vote_without_poll', v.poll_id, format('seat %s', v.seat)
  from votes v where v.poll_id > p_after and v.poll_id <= p_to
   -- The limits again: the planner does not take them over from the votes, and would read the polls of all months.
   and not exists (select from polls p
                    where p.id = v.poll_id and p.id > p_after and p.id <= p_to and p.status <> 'running');
end $$;
