-- Starts an uploaded batch: claims its idempotency key, reserves reserve_u of the account's balance and counts its
-- rows, or changes nothing. Safe to repeat.
-- p: id, account_id, login_id (if uploaded with a login), key and fingerprint if there is one, reserve_u, max_cost_u,
-- metadata, webhook_url, skipped (their number and the first of them), keep_s (how long it is kept after its end).
--   started       it runs
--   joined        the key belongs to batch_id, uploaded earlier with the same body
--   reused        the key was used with another body
--   frozen        an operator froze or closed the account
--   ended         the API key or login of the upload was ended or has expired meanwhile
--   reads_only    that API key is read-only by now
--   key_limit     the API key has a limit, and the reservation does not fit into what is left of it
--   insufficient  the account cannot cover the reservation; settling_u more is held back until its payment has settled
--   gone          its upload was given up
-- Raises EP007 if the account is moving to another cell: the move would have to wait for the batch.
create or replace function start_batch(p jsonb)
returns table (outcome text, batch_id text, available_u bigint, settling_u bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  v_id constant text := p ->> 'id';
  v_account constant uuid := p ->> 'account_id';
  v_key constant text := p ->> 'key';
  v_reserve_u constant bigint := p ->> 'reserve_u';
  v_status text;
  v_key_id uuid;
  v_login_id constant uuid := p ->> 'login_id';
  v_reads_only boolean;
  v_known batches;
  v_outcome text;
  v_available_u bigint;
  v_settling_u bigint;
begin
  -- Locks in the order of accept_batch_polls: account, balance, batch; key and login right after the account.
  perform 1 from accounts where id = v_account and frozen_at is null and deleted_at is null for key share;
  v_outcome := case when not found then 'frozen' end;
  select key_id into v_key_id from batches where id = v_id and account_id = v_account;
  if v_outcome is null and v_key_id is not null then
    -- What ends the key or login waits for this lock, so that nothing starts once it has been ended.
    select read_only into v_reads_only from api_keys
     where id = v_key_id and account_id = v_account and revoked_at is null
       and (expires_at is null or expires_at > clock_timestamp()) for share;
    v_outcome := case when not found then 'ended' when v_reads_only then 'reads_only' end;
  end if;
  if v_outcome is null and v_login_id is not null then
    perform 1 from logins
     where id = v_login_id and account_id = v_account and ended_at is null and expires_at > clock_timestamp() for share;
    v_outcome := case when not found then 'ended' end;
  end if;
  perform 1 from balances where account_id = v_account for update;
  if v_outcome is null and v_key is not null then
    -- An idempotency key belongs to its batch while the batch is kept; deleting or pruning the batch frees it.
    select * into v_known from batches where account_id = v_account and idempotency_key = v_key;
    if found and v_known.id <> v_id then
      v_outcome := case when v_known.fingerprint = p ->> 'fingerprint' then 'joined' else 'reused' end;
    end if;
  end if;
  select status into v_status from batches where id = v_id and account_id = v_account for update;
  if v_status is null or v_status = 'deleted' then
    return query select 'gone', null::text, null::bigint, null::bigint;
    return;
  elsif v_status <> 'loading' then
    return query select 'started', v_id, null::bigint, null::bigint;
    return;
  end if;
  if v_outcome is null then
    perform refuse_moved(v_account);
  end if;

  if v_outcome is null and not take_key_limit(v_account, v_key_id, v_reserve_u) then
    v_outcome := 'key_limit';
  end if;
  if v_outcome is null then
    update balances set reserved_u = reserved_u + v_reserve_u
     where account_id = v_account and posted_u - held_u - reserved_u - held_back_u >= v_reserve_u and not allow_negative;
    if not found then
      v_outcome := 'insufficient';
      perform settle_key_limit(v_key_id, v_reserve_u, 0);
      select posted_u - held_u - reserved_u - held_back_u, held_back_u into v_available_u, v_settling_u
        from balances where account_id = v_account;
    end if;
  end if;
  if v_outcome is not null then
    update batches set status = 'deleted' where id = v_id;
    return query select v_outcome, case v_outcome when 'joined' then v_known.id end, v_available_u, v_settling_u;
    return;
  end if;

  update batches b
     set status = 'running', idempotency_key = v_key, fingerprint = p ->> 'fingerprint', metadata = p -> 'metadata',
         webhook_url = p ->> 'webhook_url', max_cost_u = (p ->> 'max_cost_u')::bigint, reserved_u = v_reserve_u,
         skipped = p -> 'skipped', total = r.total, has_gold = r.golds > 0,
         created_at = now(), expires_at = now() + interval '24 hours', loading_until = null,
         keep_until = now() + interval '24 hours' + (p ->> 'keep_s')::integer * interval '1 second'
    from (select count(*) as total, count(gold) as golds from batch_rows where batch_id = v_id) r
   where b.id = v_id;
  return query select 'started', v_id, null::bigint, null::bigint;
end $$;
