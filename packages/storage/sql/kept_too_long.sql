-- Since when the oldest data due for deletion has been waiting, by kind; null if nothing waits. other_rows: callers'
-- credentials, and batches. Runs as the owner, because workers cannot read these rows.
create or replace function kept_too_long(out polls timestamptz, out accounts timestamptz, out other_rows timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
  select (select min(expires_at) from polls where expires_at is not null and expires_at <= now() and status <> 'running'),
         (select min(greatest(deleted_at, keep_until)) from accounts
           where deleted_at is not null and emptied_at is null and (keep_until is null or keep_until < now())),
         (select min(since) from (select min(expires_at) as since from idempotency
                                  union all select min(expires_at) from nonces
                                  union all select min(expires_at) from logins
                                  union all select min(keep_until) from batches
                                             where status in ('completed', 'canceled', 'expired')) r
           where since <= now())
$$;
