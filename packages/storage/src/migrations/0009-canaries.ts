import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// Models that are tested with questions of known answer, and the ones that failed.
export const canaries: Migration = {
  name: '0009-canaries',
  sql: () => `
-- A model of the roster file. failed: the kind of test that took it out of its panels, since when, and how many of that
-- kind it has passed in a row since. returns: how often it came back; its tests count anew each time.
create table model_standings (
  model_id  text collate "C" primary key,
  next_at   timestamptz not null default now(),
  failed    text,
  failed_at timestamptz,
  passes    integer not null default 0,
  returns   integer not null default 0,
  check ((failed is null) = (failed_at is null))
);

-- Tests of a model in a UTC day, while it had come back so often.
create table canary_results (
  model_id text collate "C" not null,
  kind     text not null check (kind in ('known', 'injection', 'place', 'label')),
  returns  integer not null,
  day      date not null,
  tests    integer not null default 0,
  failures integer not null default 0,
  primary key (model_id, kind, returns, day)
);

-- What tests cost per UTC day, those under way at the most they can.
create table canary_days (
  day    date primary key,
  tests  integer not null default 0,
  cost_u bigint not null default 0
);

${functionText('claim_canary')}
${functionText('finish_canary')}
`,
};
