import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// How polls are deleted: by their owner, with their account, or when their time is over.
export const retention: Migration = {
  name: '0015-retention',
  sql: () => `
${functionText('empty_polls')}
${functionText('empty_expired_polls')}
${functionText('expire_batch_polls')}
`,
};
