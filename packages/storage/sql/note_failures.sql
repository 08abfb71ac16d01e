-- Adds calls that a caller's questions made fail to the caller's day; see the table caller_days.
create or replace function note_failures(p_caller text, p_account uuid, p_refusals integer, p_others integer,
  p_fault_u bigint, p_free_u bigint, p_charged_u bigint) returns void language sql as $$
  insert into caller_days as d (caller, day, account_id, refusals, other_failures, fault_u, free_u, charged_u)
  values (p_caller, (now() at time zone 'utc')::date, p_account, p_refusals, p_others, p_fault_u,
          p_free_u, p_charged_u)
  on conflict (caller, day) do update
    set refusals = d.refusals + excluded.refusals, other_failures = d.other_failures + excluded.other_failures,
        fault_u = d.fault_u + excluded.fault_u, free_u = d.free_u + excluded.free_u,
        charged_u = d.charged_u + excluded.charged_u
$$;
