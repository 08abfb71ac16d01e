import type { Migration } from './migration.ts';

// A deposit is credited after one or three confirmations, and the chain may still drop its block. Those that were credited
// before this step count as met: the scan has passed them, and nothing noted which.
export const finalDeposits: Migration = {
  name: '0029-final-deposits',
  sql: () => `
-- final_at: when its transfer was met in a final block.
alter table deposits add column final_at timestamptz;
update deposits set final_at = now() where state = 'credited';
create index deposits_unmet on deposits (id) where state = 'credited' and final_at is null;
`,
};
