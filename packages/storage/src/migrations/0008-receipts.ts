import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// Receipts are made from results when they are read. What is kept here shows that nothing was changed since: the hash of
// each one waits for its UTC day to end, and then becomes a leaf of that day's Merkle tree.
export const receipts: Migration = {
  name: '0008-receipts',
  sql: () => `
create table receipt_leaves (
  day  date not null,
  leaf bytea not null check (octet_length(leaf) = 32),
  primary key (day, leaf)
);

-- The tree of a day, 256 hashes to a page: leaves in the order of their bytes on level 0, on each level above the roots
-- of the pages below. first: where a leaf is looked for.
create table receipt_pages (
  day    date not null,
  level  smallint not null,
  page   integer not null,
  first  bytea not null,
  hashes bytea not null check (octet_length(hashes) between 32 and 8192),
  primary key (day, level, page)
);
create unique index receipt_pages_first on receipt_pages (day, first) where level = 0;

-- The seal is the hash of the seal before, the day, the number of receipts and the root.
create table receipt_days (
  day       date primary key,
  receipts  integer not null check (receipts > 0),
  root      bytea not null check (octet_length(root) = 32),
  seal      bytea not null check (octet_length(seal) = 32),
  sealed_at timestamptz not null default clock_timestamp()
);
create trigger receipt_pages_kept before update or delete on receipt_pages
  for each row execute function refuse_rewrite();
create trigger receipt_days_kept before update or delete on receipt_days
  for each row execute function refuse_rewrite();

${functionText('merkle_root')}
${functionText('seal_receipts')}
`,
};
