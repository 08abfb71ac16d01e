import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// One constraint with a short text takes the place of four: Postgres reads the text of each one anew in every statement that
// adds a transfer. It is proved for the rows that are there before the others go, while polls go on.
export const transferRules: Migration = {
  name: '0023-transfer-rules',
  prepare: () => [
    {
      sql: `${functionText('is_transfer')}
do $$ begin
  if not exists (select from pg_constraint where conrelid = 'transfers'::regclass and conname = 'transfers_rules') then
    alter table transfers add constraint transfers_rules
      check (is_transfer(kind, idem, debit, credit, pending_id, poll_id)) not valid;
  end if;
end $$;`,
    },
    { sql: 'alter table transfers validate constraint transfers_rules', isOnline: true },
  ],
  sql: () => `
alter table transfers
  drop constraint transfers_names, drop constraint transfers_parties,
  drop constraint transfers_kind_check, drop constraint transfers_check1;
${FUNCTIONS.map(functionText).join('\n')}
`,
};

const FUNCTIONS = [
  'counted_once',
  'votes_of',
  'accept_poll',
  'accept_polls',
  'claim_poll',
  'claim_reserved_poll',
  'claim_polls',
  'claim_poll_again',
  'end_poll',
];
