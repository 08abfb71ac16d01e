import { AUDIT_POOL } from '../system-accounts.ts';
import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// Polls that are finished after their answer was delivered, and what is learned from them. No text of a question, an
// option or an answer is in here: options are numbers.
export const audits: Migration = {
  name: '0007-audits',
  sql: () => `
insert into accounts (id, kind) values ('${AUDIT_POOL}', 'audit_pool');
insert into balances (account_id) values ('${AUDIT_POOL}');

-- A panel as it was asked: which models, and in which order the roster file wants them asked. Seats of an audit are
-- positions in models, from 0; cheapest first where that is the order.
create table roster_versions (
  version      text collate "C" primary key,
  panel_name   text not null,
  asking_order text not null check (asking_order in ('cheapest', 'shuffled')),
  search       boolean not null,
  simulated    boolean not null,
  models       text[] not null,
  families     text[] not null,
  created_at   timestamptz not null default now(),
  check (cardinality(models) = cardinality(families))
);

-- A poll that was drawn, has ended, and of which models have not been asked. heard: what its answer was made of, as the
-- columns of audits. max_u: the most that asking the others can cost. Its hold is named by poll and epoch.
create table audit_jobs (
  poll_id        text collate "C" primary key,
  roster_version text collate "C" not null references roster_versions,
  heard          jsonb not null,
  max_u          bigint not null,
  lease_owner    text,
  lease_epoch    integer not null default 0,
  lease_until    timestamptz not null default now(),
  held_at        timestamptz,
  spend_shard    smallint,
  created_at     timestamptz not null default now()
);
create index audit_jobs_due on audit_jobs (lease_until);

-- One audited poll. seats: positions in the panel, in the order in which they were heard; votes: the option of each, null
-- for none; fewer than the panel when a lock made the rest irrelevant. The first stopped_at of them were in the answer;
-- said: the confidence after each of those, null without a leader and where an earlier worker heard it. winner: an
-- option, null for a tie. asked_order: how the poll was asked. learned: contained in its track record.
create table audits (
  id             bigint generated always as identity primary key,
  poll_id        text collate "C" not null unique,
  roster_version text collate "C" not null references roster_versions,
  asked_order    text not null check (asked_order in ('cheapest', 'shuffled')),
  threshold      double precision not null,
  option_count   smallint not null,
  seats          smallint[] not null,
  votes          smallint[] not null,
  said           double precision[] not null,
  stopped_at     smallint not null,
  reason         text,
  winner         smallint,
  cost_u         bigint not null default 0,
  learned        boolean not null default false,
  created_at     timestamptz not null default now(),
  check (cardinality(seats) = cardinality(votes) and cardinality(said) = stopped_at)
);
create index audits_version on audits (roster_version, id);
create index audits_unlearned on audits (id) where not learned;

-- What the audits of a roster version come to, derived from them: see decision 0016. audits counts all of them, learned
-- those that the situations remember.
create table track_records (
  roster_version text collate "C" primary key references roster_versions,
  audits         integer not null default 0,
  learned        integer not null default 0,
  state          jsonb not null,
  updated_at     timestamptz not null default now()
);

${functionText('is_forgotten')}
${functionText('numbers_of')}
${functionText('seats_of')}
${functionText('settle_audit')}
${functionText('note_audit')}
${functionText('drop_audit')}
${functionText('claim_audit')}
${functionText('finish_audit')}
`,
};
