import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// A check of the ledger does not count polls that only end late.
export const latePolls: Migration = { name: '0036-late-polls', sql: () => functionText('end_ledger_check') };
