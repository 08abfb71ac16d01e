import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// What a poll costs Postgres: fewer statements where one is accepted and ended, and nothing that is checked twice.
export const pollCost: Migration = {
  name: '0020-poll-cost',
  sql: () => `
-- Its only writer, resolve_hold, has read the hold, which is never deleted; the audit of the ledger compares both.
alter table transfers drop constraint if exists transfers_pending_id_fkey;

-- The first takes other values than before; the other is part of accept_poll now.
do $$ begin drop function if exists count_usage, spend_is_near; end $$;
${FUNCTIONS.map(functionText).join('\n')}
`,
};

const FUNCTIONS = [
  'ledger_hold',
  'resolve_hold',
  'ledger_resolve',
  'count_usage',
  'cancel_poll',
  'accept_poll',
  'end_poll',
  'finish_polls',
  'finish_poll',
];
