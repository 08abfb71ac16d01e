-- Credited payments without a matching credit in the ledger, and reversals that differ from the checkout.
create or replace function check_payments() returns table (rule text, subject text, found text) language sql stable as $$
select 'card_credit', s.processor_id, format('checkout %s, ledger %s', s.amount_cents * 10000::bigint, coalesce(t.amount_u, 0))
  from checkouts s left join transfers t on t.idem = 'card:' || s.processor_id and t.kind = 'credit'
 where s.state = 'credited' and (t.amount_u = s.amount_cents * 10000::bigint and t.credit = s.account_id) is not true
union all
select 'chain_credit', d.id::text, format('deposit %s, ledger %s', d.amount_u, coalesce(t.amount_u, 0))
  from deposits d left join transfers t on t.idem = 'deposit:' || d.id and t.kind = 'credit'
 where d.state = 'credited' and (t.amount_u = d.amount_u and t.credit = d.account_id) is not true
$$;
