-- Ends several polls of one worker in one transaction; if one raises, none is ended. They must be sorted by payer, so
-- that such transactions lock in the same order. Free polls share a payer, so they must not be mixed with others.
-- p: an array of id, epoch, votes, aborted (calls ended by a stop); dead_letter (why it was given up without a
-- response); failures_free_u, failures_free_ppm; audit (the votes so far, see note_audit); receipt (its receipt's hash
-- in hexadecimal); saved_u (see count_usage). p_responses: the responses in the same order, null if there is none.
-- Returns a row for each poll, in this order: see end_poll.
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
  -- The last locks, because other polls share the rows.
  settled as materialized (
    select settle_spend(spend_shard, accepted_at, reserved_u, spent_u)
      from (select * from ended where spend_shard is not null order by spend_shard) s
  )
  select outcome, votes_u, failed_calls_u, unvoted_u from ended where (select count(*) from settled) >= 0 order by place;
end $$;
