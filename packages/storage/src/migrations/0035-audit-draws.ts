import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// Which questions are audited, and audits that need no more votes as jobs like all others.
export const auditDraws: Migration = {
  name: '0035-audit-draws',
  sql: () => `
-- A poll that was selected for an audit. question: hash of tenant, roster version, question and options under the
-- gateways' KEY_PEPPER. When the poll is deleted, question and poll_id become null, and the row only counts towards the
-- share of tenant, which is an account. Deleted with the audit, and with the account.
create table audit_draws (
  roster_version text collate "C" not null,
  question       bytea,
  tenant         text collate "C" not null,
  poll_id        text collate "C",
  drawn_at       timestamptz not null default now(),
  unique (roster_version, question)
);
create index audit_draws_poll on audit_draws (poll_id) where poll_id is not null;
create index audit_draws_tenant on audit_draws (tenant);
create index audit_draws_newest on audit_draws (roster_version, drawn_at, tenant);
create index audit_draws_of_deleted on audit_draws (drawn_at) where poll_id is null;

-- panel_u: the most that asking the whole panel can cost; the job waits until there is as much. needs_votes: false if
-- models that were not heard cannot matter.
alter table audit_jobs add column panel_u bigint not null default 0, add column needs_votes boolean not null default true;
create index audit_jobs_turns on audit_jobs (md5(poll_id));
create index audit_jobs_created on audit_jobs (created_at);

-- unmade: audits of that month that were drawn and not made.
alter table audit_months add column unmade integer not null default 0;

${functionText('store_audit')}
${functionText('note_unmade_audit')}
`,
};
