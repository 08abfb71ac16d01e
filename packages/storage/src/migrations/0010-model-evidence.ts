import type { Migration } from './migration.ts';

// What is known about models from the votes of many polls: how reliable each one is, and how often two agree. One row per
// UTC day, learned from votes and audits; no text of any poll is in here.
export const modelEvidence: Migration = {
  name: '0010-model-evidence',
  sql: () => `
create table model_evidence (
  simulated     boolean not null,
  version       text collate "C" not null,
  questions     integer not null,
  known_answers integer not null,
  audits        integer not null,
  reliabilities jsonb not null,
  agreement     jsonb not null,
  created_at    timestamptz not null default now(),
  primary key (simulated, version)
);
`,
};
