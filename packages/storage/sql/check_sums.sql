-- Compares the totals of the closed part with those of its days.
create or replace function check_sums() returns table (rule text, subject text, found text) language sql stable as $$
select 'sums', coalesce(l.account_id, d.account_id)::text, 'the total of an account is not the sum of its days'
  from ledger_sums l
  full join (select account_id, sum(posted_u) as posted_u, sum(used_u) as used_u, sum(held_u) as held_u,
                    sum(reversed_u) as reversed_u, sum(card_u) as card_u, sum(card_reversed_u) as card_reversed_u,
                    sum(chain_u) as chain_u
               from ledger_day_sums group by account_id) d using (account_id)
 where (l.posted_u, l.used_u, l.held_u, l.reversed_u, l.card_u, l.card_reversed_u, l.chain_u)
       is distinct from (d.posted_u, d.used_u, d.held_u, d.reversed_u, d.card_u, d.card_reversed_u, d.chain_u)
$$;
