-- Compares moves between cells with the ledger, both ways. Only a command that reads both cells can compare what left
-- one with what arrived in the other (npm run cells -- check).
create or replace function check_moves() returns table (rule text, subject text, found text) language sql stable as $$
select 'move', m.id::text, format('%s of %s, transfer of %s', m.direction, m.amount_u,
         coalesce((case t.kind when 'reversal' then t.amount_u else -t.amount_u end)::text, 'nothing'))
  from account_moves m left join transfers t on t.idem = 'move:' || m.id || ':' || m.direction
 where m.state in ('left', 'arrived')
   and (case when m.amount_u = 0 then t.id is null
             when m.direction = 'out'
               then (m.account_id, m.amount_u) = (case t.kind when 'reversal' then t.debit else t.credit end,
                                                  case t.kind when 'reversal' then t.amount_u else -t.amount_u end)
             else (m.account_id, m.amount_u) = (case t.kind when 'credit' then t.credit else t.debit end,
                                                case t.kind when 'credit' then t.amount_u else -t.amount_u end) end) is not true
$$;
