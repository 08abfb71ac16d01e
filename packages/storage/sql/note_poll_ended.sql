-- Creates the event of a poll's end: ids and figures, never questions or answers. Not for a poll without an account.
-- For a poll of a batch, only for its own webhook_url, because endpoints are notified of the batch.
create or replace function note_poll_ended(p_poll polls, p_status text, p_has_result boolean, p_billed_u bigint)
returns void language plpgsql set search_path = public, pg_temp as $$
declare
  v_type constant text := case when p_status = 'failed' then 'poll.failed' else 'poll.completed' end;
begin
  if p_poll.account_id is null then return; end if;
  if p_poll.webhook_url is null and (p_poll.batch_id is not null or not hears_webhooks(p_poll.account_id, v_type)) then
    return;
  end if;
  perform note_webhook_event(p_poll.account_id, v_type, jsonb_build_object(
    'session_id', p_poll.id,
    'batch_id', p_poll.batch_id,
    'poll_id', case when p_has_result then p_poll.result_id end,
    'status', p_status,
    'preset', p_poll.spec ->> 'panel_name',
    'canceled', p_poll.canceled_at is not null,
    'cost_usd', trim_scale(p_billed_u / 1000000.0),
    'metadata', coalesce(p_poll.metadata, '{}'),
    'created_at', to_char(p_poll.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'ended_at', to_char(p_poll.finished_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
    p_poll.webhook_url);
end $$;
