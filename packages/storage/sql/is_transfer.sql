-- Rules for every transfer, in constraint transfers_rules. With transfers_idem they allow one hold per poll and one
-- resolution per hold. A function, because the text of a constraint is parsed again by each statement that writes.
create or replace function is_transfer(p_kind text, p_idem text, p_debit uuid, p_credit uuid, p_pending_id bigint, p_poll_id text)
returns boolean language plpgsql immutable as $$
declare
  v_funding constant uuid[] := '{00000000-0000-4000-8000-000000000003,00000000-0000-4000-8000-000000000004,00000000-0000-4000-8000-000000000005,00000000-0000-4000-8000-000000000007}';
begin
  if p_kind = 'hold' then
    return p_credit = '00000000-0000-4000-8000-000000000002' and p_pending_id is null
       and (p_poll_id is null or p_idem = 'hold:' || p_poll_id);
  elsif p_kind = 'post' or p_kind = 'void' then
    return p_credit = '00000000-0000-4000-8000-000000000002' and p_pending_id is not null
       and p_idem = 'resolve:' || p_pending_id::text;
  end if;
  return p_pending_id is null and p_poll_id is null and case p_kind
    when 'credit' then p_debit = any(v_funding)
    when 'top_up' then p_debit = any(v_funding)
    when 'reversal' then p_credit = any(v_funding)
    else false end;
end $$;
