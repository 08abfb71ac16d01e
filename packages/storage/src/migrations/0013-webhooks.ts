import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// Webhooks. An event is written in the transaction of what happened; workers spread it to the endpoints that want it, one
// delivery each, and send those. Every function that claims or ends a delivery locks its receiver's row first.
export const webhooks: Migration = {
  name: '0013-webhooks',
  sql: () => `
-- Where the poll's end is sent, beside the account's endpoints.
alter table polls add column webhook_url text;

-- url: null for the one endpoint of an account that stands for the webhook_url of its polls and batches.
-- secret, previous_secret: sealed; the previous one signs too until previous_until.
-- failing_since: no delivery has got through since then. skipped: events that were not sent because too many waited.
create table webhook_endpoints (
  id              text collate "C" primary key check (id ~ '^we_[0-9a-f]{32}$'),
  account_id      uuid not null references accounts,
  url             text,
  description     text not null default '',
  event_types     text[] not null,
  secret          text not null,
  previous_secret text,
  previous_until  timestamptz,
  disabled_at     timestamptz,
  disabled_why    text check (disabled_why in ('owner', 'gone', 'failing')),
  failing_since   timestamptz,
  skipped         integer not null default 0,
  created_at      timestamptz not null default clock_timestamp(),
  check ((disabled_at is null) = (disabled_why is null))
);
create index webhook_endpoints_account on webhook_endpoints (account_id);
create unique index webhook_endpoints_of_urls on webhook_endpoints (account_id) where url is null;

-- What happened. Ids of events and deliveries begin with their time. The account is no foreign key: that would lock its row in every transaction that ends a poll.
-- url: of a webhook_url. spread_at: deliveries were made of it.
create table webhook_events (
  id         text collate "C" primary key default 'msg_' || replace(uuidv7()::text, '-', ''),
  account_id uuid not null,
  type       text not null,
  data       jsonb not null,
  url        text,
  created_at timestamptz not null default clock_timestamp(),
  spread_at  timestamptz
);
create index webhook_events_unspread on webhook_events (created_at) where spread_at is null;
create index webhook_events_created on webhook_events (created_at);
create index webhook_events_poll on webhook_events ((data ->> 'session_id')) where data ? 'session_id';
create index webhook_events_account on webhook_events (account_id);

-- Who is sent to: an endpoint, or one origin among the webhook_url of an account. Its limits, and its circuit breaker.
-- next_due_at: when to look for deliveries of it; never before resting_until. failures: attempts that failed in a row.
-- is_quick: the last attempt got through in good time.
create table webhook_receivers (
  id            bigint generated always as identity primary key,
  endpoint_id   text collate "C" not null references webhook_endpoints on delete cascade,
  account_id    uuid not null,
  origin        text not null,
  next_due_at   timestamptz not null,
  failures      integer not null default 0,
  resting_until timestamptz not null default '-infinity',
  is_quick      boolean not null default false,
  used_at       timestamptz not null default now(),
  unique (endpoint_id, origin)
);
create index webhook_receivers_due on webhook_receivers (next_due_at);
create index webhook_receivers_used on webhook_receivers (used_at);

-- One event on its way to one endpoint. due_at: of the next attempt; while an attempt is under way, the end of its lease.
-- attempts numbers the attempts and fences what they write; tries counts those since the delivery was made or resent.
-- log: the last attempts, newest last. url: where it goes, if that is a webhook_url.
create table webhook_deliveries (
  id          text collate "C" primary key default 'wd_' || replace(uuidv7()::text, '-', ''),
  event_id    text collate "C" not null references webhook_events on delete cascade,
  endpoint_id text collate "C" not null references webhook_endpoints on delete cascade,
  receiver_id bigint not null references webhook_receivers on delete cascade,
  account_id  uuid not null,
  url         text,
  status      text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  due_at      timestamptz not null default now(),
  lease_owner text,
  attempts    integer not null default 0,
  tries       smallint not null default 0,
  log         jsonb not null default '[]',
  created_at  timestamptz not null default clock_timestamp(),
  expires_at  timestamptz not null default now() + interval '3 days',
  ended_at    timestamptz,
  check ((status = 'pending') = (ended_at is null)),
  check (lease_owner is null or status = 'pending')
) with (fillfactor = 85);
create index webhook_deliveries_due on webhook_deliveries (receiver_id, due_at) where status = 'pending';
create index webhook_deliveries_pending on webhook_deliveries (endpoint_id) where status = 'pending';
create index webhook_deliveries_leased on webhook_deliveries (account_id, receiver_id) where lease_owner is not null;
create index webhook_deliveries_expiring on webhook_deliveries (expires_at) where status = 'pending';
create index webhook_deliveries_listed on webhook_deliveries (endpoint_id, created_at desc, id desc);
create index webhook_deliveries_event on webhook_deliveries (event_id);
create index webhook_deliveries_receiver on webhook_deliveries (receiver_id);

${functionText('hears_webhooks')}
${functionText('note_webhook_event')}
${functionText('note_poll_ended')}
${functionText('spread_webhook_events')}
${functionText('next_webhook_due')}
${functionText('claim_webhook_deliveries')}
${functionText('end_webhook_attempt')}
${functionText('disable_webhook_endpoint')}
${functionText('resend_webhook_delivery')}
${functionText('test_webhook_endpoint')}
${functionText('prune_webhooks')}
${functionText('finish_poll')}
${functionText('cancel_poll')}
${functionText('accept_poll')}
${functionText('prune_expired')}
`,
};
