-- Deletes interrupted uploads, expired batches with the events of their ends, and batches that callers deleted, at most
-- p_limit rows of each; returns how many. The polls of a batch expire separately.
create or replace function prune_batches(p_limit integer) returns integer language plpgsql as $$
declare
  v_rows integer;
  v_batches integer;
  v_events text[];
begin
  update batches set status = 'deleted' where ctid = any(array(
    select ctid from batches where status = 'loading' and loading_until < now() limit p_limit for update skip locked));
  with gone as (
    update batches set status = 'deleted', idempotency_key = null where ctid = any(array(
      select ctid from batches where status in ('completed', 'canceled', 'expired') and keep_until < now()
       limit 100 for update skip locked))
    returning event_id)
  select coalesce(array_agg(event_id), '{}') into v_events from gone where event_id is not null;
  delete from webhook_events where id = any(v_events);
  delete from batch_rows where ctid = any(array(
    select r.ctid from batches b join batch_rows r on r.batch_id = b.id
     where b.status = 'deleted' limit p_limit for update of r skip locked));
  get diagnostics v_rows = row_count;
  delete from batches where ctid = any(array(
    select b.ctid from batches b
     where status = 'deleted' and not exists (select from batch_rows r where r.batch_id = b.id)
     limit p_limit for update skip locked));
  get diagnostics v_batches = row_count;
  return v_rows + v_batches;
end $$;
