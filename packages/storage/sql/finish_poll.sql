-- Ends one poll for workers of the previous release, whose response is a text in p: see end_poll.
create or replace function finish_poll(p jsonb)
returns table (outcome text, votes_u bigint[], failed_calls_u bigint, unvoted_u bigint)
language sql security definer set search_path = public, pg_temp as $$
  select outcome, votes_u, failed_calls_u, unvoted_u from end_poll(p - 'response', (p ->> 'response')::json, true)
$$;
