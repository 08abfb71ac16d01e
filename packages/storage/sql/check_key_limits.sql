-- Runs check_limits_of for keys that can be used or have money set aside. Other keys no longer change: only the full
-- check reads them. plpgsql, because a migration loads it before the function that it calls.
create or replace function check_key_limits() returns table (rule text, subject text, found text)
language plpgsql stable as $$
begin
  return query
    select v.* from check_limits_of(array(
      select l.key_id from key_limits l join api_keys k on k.id = l.key_id
       where l.held_u <> 0 or k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
      union
      select key_id from polls where status = 'running' and key_id is not null
      union
      select key_id from batches where status in ('running', 'canceling') and key_id is not null)) v;
end $$;
