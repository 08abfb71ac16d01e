-- The votes of a finished poll in order, from the argument of finish_poll. Those of an older release lack `cost`.
create or replace function votes_of(p jsonb)
returns table (place bigint, seat smallint, model_id text, option smallint, error text, latency_ms integer,
  billed_u bigint, provider_cost_u bigint, cost_u bigint, max_cost_u bigint, fault_u bigint, calls smallint,
  searched boolean, labels text[]) language sql immutable as $$
  select v.place, v.seat, v.model_id, v.option, v.error, v.latency_ms, v.billed_u, v.provider_cost_u,
         coalesce((v.cost ->> 'estimated_u')::bigint, v.provider_cost_u, case when v.option is not null then v.billed_u end, 0),
         coalesce((v.cost ->> 'max_u')::bigint, v.provider_cost_u, case when v.option is not null then v.billed_u end, 0),
         coalesce((v.cost ->> 'fault_u')::bigint, 0), v.calls, v.searched,
         coalesce(v.labels, '{}')
    from rows from (jsonb_to_recordset(p -> 'votes') as (seat smallint, model_id text, option smallint, error text,
           latency_ms integer, billed_u bigint, provider_cost_u bigint, cost jsonb, calls smallint, searched boolean,
           labels text[])) with ordinality
           as v (seat, model_id, option, error, latency_ms, billed_u, provider_cost_u, cost, calls, searched, labels,
                 place)
$$;
