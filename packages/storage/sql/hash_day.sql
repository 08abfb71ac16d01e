-- The hash of a day for its seal: the previous seal, the day's pages, and what they add to each account.
create or replace function hash_day(p_day date) returns bytea language sql stable as $$
  select sha256(
    coalesce((select hash from ledger_seals where day < p_day order by day desc limit 1), '')
    || convert_to(p_day::text, 'UTF8')
    || coalesce((select string_agg(int8send(first_id) || int8send(last_id) || hash, '' order by last_id)
                   from ledger_pages where day = p_day), '')
    || convert_to(coalesce((select string_agg(row(account_id, posted_u, used_u, held_u, reversed_u, card_u,
                                     card_reversed_u, chain_u)::text, e'\n' order by account_id)
                              from ledger_day_sums where day = p_day), ''), 'UTF8'))
$$;
