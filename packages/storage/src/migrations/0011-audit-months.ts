import type { Migration } from './migration.ts';

// What audits come to, month by month. Audits beyond the window of a track record are deleted, these sums stay.
export const auditMonths: Migration = {
  name: '0011-audit-months',
  sql: () => `
-- counted: contained in the sums of its month.
alter table audits add column counted boolean not null default false;
create index audits_uncounted on audits (id) where not counted;

-- tally: see said-tally.ts. Derived from audits, at any time again from those that are kept: see recountAudits.
create table audit_months (
  roster_version text collate "C" not null references roster_versions,
  asked_order    text not null check (asked_order in ('cheapest', 'shuffled')),
  month          text collate "C" not null check (month ~ '^[0-9]{4}-[0-9]{2}$'),
  tally          jsonb not null,
  primary key (roster_version, asked_order, month)
);
`,
};
