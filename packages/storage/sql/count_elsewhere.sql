-- Recomputes which part of an account's daily usage is not in this cell's ledger: all of it, if it never lived here.
create or replace function count_elsewhere(p_account uuid) returns void language plpgsql as $$
begin
  delete from moved_usage where account_id = p_account;
  insert into moved_usage (account_id, day, cost_u)
  select p_account, day, u.cost_u - coalesce(t.cost_u, 0)
    from (select day, sum(cost_u)::bigint as cost_u from usage_days where account_id = p_account group by day) u
    left join (select (r.created_at at time zone 'utc')::date as day, sum(r.amount_u)::bigint as cost_u
                 from transfers h join transfers r on r.pending_id = h.id and r.kind = 'post'
                where h.debit = p_account and h.kind = 'hold' and h.poll_id is not null group by 1) t using (day);
end $$;
