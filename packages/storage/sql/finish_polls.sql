-- Ends several polls of one worker in one transaction: all of them, or none where one raises. In the order of their payers, so that
-- transactions that end several of them wait for each other in one order; with free polls, which share a payer, none beside.
-- p: an array of id, epoch, votes, aborted (calls that a stop ended); dead_letter, why it was given up without a response;
-- failures_free_u, failures_free_ppm; audit, what was heard (see note_audit); receipt, the hash of its receipt in hexadecimal;
-- saved_u, see count_usage. p_responses: their responses in the same order, null where there is none.
-- A row for each, in this order: see end_poll.
create or replace function finish_polls(p jsonb, p_responses json)
returns table (outcome text, votes_u bigint[], failed_calls_u bigint, unvoted_u bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
  return query
  with ended as materialized (
    select given.place, e.*
      from rows from (jsonb_array_elements(p), json_array_elements(p_responses)) with ordinality as given (poll, response, place)
     cross join lateral end_poll(given.poll, case json_typeof(given.response) when 'null' then null else given.response end, false) e
  ),
  -- The last locks that are taken, because other polls share the rows.
  settled as materialized (
    select settle_spend(spend_shard, accepted_at, reserved_u, spent_u)
      from (select * from ended where spend_shard is not null order by spend_shard) s
  )
  select outcome, votes_u, failed_calls_u, unvoted_u from ended where (select count(*) from settled) >= 0 order by place;
end $$;
