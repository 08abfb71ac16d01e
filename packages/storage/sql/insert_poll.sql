-- Stores an accepted poll and the labels of its metadata. p: the argument of accept_poll, or an array of those.
-- p_shard: the row of provider_spend in which the poll's possible cost is set aside.
create or replace function insert_poll(p jsonb, p_shard smallint) returns void language plpgsql as $$
begin
  insert into polls (id, result_id, account_id, tenant, key_id, awaited, spec, entry_point, request_id, traceparent,
                     context_id, metadata, webhook_url, batch_id, batch_line, lease_until, deadline_at, expires_at, lane,
                     run_limit_ms, provider_max_u, spend_shard, audit_version)
  select e ->> 'id', e ->> 'result_id', (e ->> 'account_id')::uuid, e ->> 'tenant', (e ->> 'key_id')::uuid,
         coalesce((e ->> 'awaited')::boolean, false), e -> 'spec', e ->> 'entry_point', e ->> 'request_id',
         e ->> 'traceparent', e ->> 'context_id', e -> 'metadata', e ->> 'webhook_url', e ->> 'batch_id',
         (e ->> 'line')::integer,
         -- The sweep need not look for it before then; in the flex lane a poll may wait for long.
         now() + case e ->> 'lane' when 'flex' then interval '20 seconds' else interval '5 seconds' end,
         now() + (e ->> 'deadline_ms')::integer * interval '1 millisecond', (e #>> '{spec,expires_at}')::timestamptz,
         coalesce(e ->> 'lane', 'standard'),
         (e ->> 'run_limit_ms')::integer, (e ->> 'provider_max_u')::bigint, p_shard, draw_audit(e)
    -- If p is not an array, this returns p itself.
    from jsonb_path_query(p, 'lax $[*]') e;
  if p @? 'lax $[*].metadata' then
    insert into poll_labels (account_id, label, created_at, poll_id)
    select (e ->> 'account_id')::uuid, label_of(key, value), now(), e ->> 'id'
      from jsonb_path_query(p, 'lax $[*]') e, jsonb_each_text(e -> 'metadata')
     where e ->> 'account_id' is not null;
  end if;
end $$;
