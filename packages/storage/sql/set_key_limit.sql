-- Sets the limit of an account's key, or removes it with null. What the key has spent in the period and what its
-- running polls and batches hold counts exactly: this waits for polls that are being accepted or ended.
create or replace function set_key_limit(p_account uuid, p_key uuid, p_limit_u bigint, p_reset text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_period date;
begin
  perform 1 from accounts where id = p_account for update;
  perform 1 from api_keys where id = p_key and account_id = p_account;
  if not found then
    raise exception 'account % has no key %', p_account, p_key using errcode = 'EP002';
  end if;
  perform 1 from polls where tenant = p_account::text and status = 'running' and key_id = p_key order by id for update;
  perform 1 from batches
    where account_id = p_account and key_id = p_key and status in ('running', 'canceling') order by id for update;
  insert into key_limits (key_id, account_id, reset, period, held_u)
  select p_key, p_account, p_reset, key_period(p_reset),
         coalesce(sum(h.amount_u), 0)
         + (select coalesce(sum(reserved_u), 0) from batches
             where account_id = p_account and key_id = p_key and status in ('running', 'canceling'))
    from polls p join transfers h on h.idem = 'hold:' || p.id and h.debit = p_account
   where p.tenant = p_account::text and p.status = 'running' and p.key_id = p_key
  on conflict (key_id) do nothing;
  perform 1 from key_limits where key_id = p_key for update;
  -- Not key_period, which uses the time when this transaction began: a transaction that it waited for may already have
  -- counted in the next period; beginning that period again would lose this count.
  select greatest(case reset when p_reset then period end,
                  case p_reset when 'daily' then (clock_timestamp() at time zone 'utc')::date
                               when 'monthly' then date_trunc('month', clock_timestamp() at time zone 'utc')::date
                               else '-infinity' end)
    into v_period from key_limits where key_id = p_key;
  -- A separate statement, so that it sees usage that was counted while the previous one waited.
  update key_limits
     set limit_u = p_limit_u, reset = p_reset, period = v_period, reached_in = null,
         spent_u = (select coalesce(sum(cost_u), 0) from usage_days
                     where account_id = p_account and day >= v_period and key_id = p_key)
   where key_id = p_key;
end $$;
