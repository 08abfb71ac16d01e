-- The prefix of all poll ids of a UTC month, like pollIdsOfMonth in packages/polls. Months before the first, or after
-- the last, that ids can express have the prefix of that month.
create or replace function month_ids(p_at timestamptz) returns text language plpgsql immutable as $$
declare
  v_base constant text := '0123456789abcdefghjkmnpqrstvwxyz';
  v_at constant timestamp := p_at at time zone 'utc';
  v_month constant integer := greatest(0, least(1023, (extract(year from v_at) - 2020) * 12 + extract(month from v_at) - 1));
begin
  return 'ps_' || substr(v_base, v_month / 32 + 1, 1) || substr(v_base, v_month % 32 + 1, 1);
end $$;
