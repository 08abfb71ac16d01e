import type { Migration } from './migration.ts';

// Open challenges are counted per address and asker: counted per address alone, anybody could push out the challenge
// that a wallet's owner is about to sign.
export const challengeAskers: Migration = {
  name: '0008-challenge-askers',
  sql: `
alter table nonces add column asker bytea not null default '';
drop index nonces_address;
create index nonces_address on nonces (address, asker, created_at);
`,
};
