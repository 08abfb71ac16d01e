-- Whether the month has partitions for polls: it was not dropped, or it was restored.
create or replace function has_polls(p_month months) returns boolean language sql stable as $$
  select p_month.polls_dropped_at is null
      or exists (select from pg_class where oid = to_regclass('polls_' || p_month.name) and relispartition)
$$;
