import { randomUUID } from 'node:crypto';
import { apiKeyPrefix, hashApiKey, newApiKey } from '@eloquentpoll/gateway/api-key';
import { createAccount, creditAccount, insertKey, inTransaction } from '@eloquentpoll/storage';
import { withDatabase } from './database-failure.ts';

// Opens an account for a customer: a new account with a credit in dollars, and its first key, which is shown only once.
// The ledger records the credit under its own kind, apart from payments.

const MAX_USD = 10_000;
const [, , text = ''] = process.argv;
const { DATABASE_URL: databaseUrl, KEY_PEPPER: pepper, CELL: cell } = process.env;
const dollars = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
if (!(dollars > 0 && dollars <= MAX_USD)) refuse(`say how many whole US dollars it is credited with, 1 to ${MAX_USD}`);
if (!databaseUrl || !pepper)
  refuse('DATABASE_URL and KEY_PEPPER must be those of the gateways, and CELL where they have one');

const options = { databaseUrl, maxConnections: 1, connectTimeoutMs: 10_000 };
await withDatabase('open-account', options, async (storage) => {
  const accountId = randomUUID();
  const key = newApiKey({ cell, accountId });
  // Together, so that a command that fails leaves no account with money and without a key.
  await inTransaction(storage, async (tx) => {
    await createAccount(tx, { id: accountId });
    await creditAccount(tx, {
      accountId,
      amountU: BigInt(dollars) * 1_000_000n,
      source: 'operator',
      idem: `operator:${accountId}`,
    });
    await insertKey(tx, { accountId, hash: hashApiKey(pepper, key), prefix: apiKeyPrefix(key), label: 'first' });
  });
  console.log(JSON.stringify({ account_id: accountId, api_key: key, balance_usd: dollars }));
});

function refuse(why: string): never {
  console.error(`open-account: ${why}`);
  process.exit(2);
}
