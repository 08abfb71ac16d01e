-- Lets polls of an ended batch expire, p_limit rows after line p_after: from then on they cannot be read, and workers
-- empty them. Returns the last line; null if none is left, or the account has no such ended batch.
create or replace function expire_batch_polls(p_id text, p_account uuid, p_after integer, p_limit integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_last integer;
  v_polls text[];
begin
  select max(line), coalesce(array_agg(poll_id order by poll_id) filter (where poll_id is not null), '{}') into v_last, v_polls
    from (select r.line, r.poll_id from batches b join batch_rows r on r.batch_id = b.id
           where b.id = p_id and b.account_id = p_account and b.status in ('completed', 'canceled', 'expired')
             and r.line > p_after
           order by r.line limit p_limit) rows;
  update polls set expires_at = now()
   where id = any(v_polls) and account_id = p_account and status <> 'running' and (expires_at is null or expires_at > now());
  update results set expires_at = now()
   where poll_id = any(v_polls) and account_id = p_account and (expires_at is null or expires_at > now());
  return v_last;
end $$;
