-- What the transfers with ids in (p_after, p_to] add to each account's totals.
create or replace function sum_transfers(p_after bigint, p_to bigint)
returns table (account_id uuid, posted_u bigint, used_u bigint, held_u bigint, reversed_u bigint,
               card_u bigint, card_reversed_u bigint, chain_u bigint)
language plpgsql stable set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  v_card constant uuid := '00000000-0000-4000-8000-000000000004';
  v_chain constant uuid := '00000000-0000-4000-8000-000000000005';
begin
  return query
  select s.account_id,
         sum(case when t.kind in ('hold', 'void') then 0 else s.direction * t.amount_u end)::bigint,
         sum(case when t.kind = 'post' and s.direction = -1 then t.amount_u else 0 end)::bigint,
         sum(case when s.direction = 1 then 0
                  when t.kind = 'hold' then t.amount_u
                  when t.kind in ('post', 'void') then -coalesce(h.amount_u, 0)
                  else 0 end)::bigint,
         sum(case when t.kind = 'reversal' and s.direction = -1 then t.amount_u else 0 end)::bigint,
         sum(case when t.kind = 'credit' and s.direction = 1 and t.debit = v_card
                       and t.idem not like '%:reinstated:%' then t.amount_u else 0 end)::bigint,
         sum(case when t.kind = 'reversal' and s.direction = -1 and t.credit = v_card then t.amount_u
                  when t.kind = 'credit' and s.direction = 1 and t.debit = v_card
                       and t.idem like '%:reinstated:%' then -t.amount_u else 0 end)::bigint,
         sum(case when t.kind = 'credit' and s.direction = 1 and t.debit = v_chain then t.amount_u else 0 end)::bigint
    from transfers t
    left join transfers h on h.id = t.pending_id
   cross join lateral (values (t.debit, -1), (t.credit, 1)) s (account_id, direction)
   where t.id > p_after and t.id <= p_to
   group by s.account_id;
end $$;
