-- Whether a month's polls are no longer needed: all have ended and were emptied, and the books and receipts of their
-- days are closed. Uses partial indexes of unfinished rows, so the size of the month does not matter.
create or replace function polls_are_over(p_month months) returns boolean
language plpgsql stable set search_path = public, pg_temp set enable_seqscan = off as $$
declare
  v_found boolean;
begin
  -- A flex poll from the last minute of the month may have run for a day.
  if p_month.ends_at > now() - interval '3 days' then
    return false;
  end if;
  execute format('select exists (select from %1$I where status = ''running'')
                      or exists (select from %1$I where expires_at is not null and status <> ''running'')
                      or exists (select from %1$I where account_id is not null)', 'polls_' || p_month.name) into v_found;
  return not v_found
     and not exists (select from ledger_pages where not proved)
     and not exists (select from transfers where id > closed_to() and poll_id >= p_month.first_poll and poll_id < p_month.next_poll)
     and not exists (select from ledger_open_holds o join transfers h on h.id = o.hold_id
                      where h.poll_id >= p_month.first_poll and h.poll_id < p_month.next_poll)
     and not exists (select from receipt_leaves where day <= (p_month.ends_at at time zone 'utc')::date + 2);
end $$;
