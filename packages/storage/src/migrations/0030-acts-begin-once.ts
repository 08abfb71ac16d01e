import type { Migration } from './migration.ts';

// An action of an operator may be sent twice: by a second click, or because its answer was lost.
export const actsBeginOnce: Migration = {
  name: '0030-acts-begin-once',
  sql: () => `
create unique index operator_log_begun on operator_log (action_id) where outcome = 'begun';
`,
};
