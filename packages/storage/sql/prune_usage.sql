-- Deletes usage by metadata of more than 400 days ago, at most p_limit rows of each kind; returns how many.
create or replace function prune_usage(p_limit integer) returns integer language plpgsql as $$
declare
  v_before constant date := (now() at time zone 'utc')::date - 400;
  v_labels integer;
  v_names integer;
begin
  delete from usage_labels where ctid = any(array(
    select ctid from usage_labels where day < v_before limit p_limit for update skip locked));
  get diagnostics v_labels = row_count;
  delete from usage_names where ctid = any(array(
    select ctid from usage_names where day < v_before limit p_limit for update skip locked));
  get diagnostics v_names = row_count;
  return v_labels + v_names;
end $$;
