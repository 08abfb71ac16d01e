-- Whether a poll was deleted: with its account, or as a row.
create or replace function is_forgotten(p_poll_id text) returns boolean language sql stable as $$
  select not exists (
    select from polls p left join accounts a on a.id = p.account_id
     where p.id = p_poll_id and p.spec ? 'question' and a.deleted_at is null)
$$;
