import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '@eloquentpoll/launch/failure';
import { readJson } from '@eloquentpoll/services/json';
import { newSecret } from '@eloquentpoll/services/secret';
import { type Static, Type } from '@sinclair/typebox';

// Generated once per clone, in a file that only its owner can read: passwords of the embedded services, the pepper of
// API keys, the keys for cookies, receipts and webhooks, the local account. Without them, existing data cannot be used.

const LocalAccount = Type.Object({ accountId: Type.String(), apiKey: Type.String() });

export const Secrets = Type.Object({
  postgresPassword: Type.String(),
  redisPassword: Type.String(),
  keyPepper: Type.String(),
  cookieSecret: Type.String(),
  /** Signs receipts. Missing if the clone was last started by a version without receipts. */
  receiptKey: Type.Optional(Type.String()),
  /** Seals the signing secrets of webhooks. May be missing for the same reason. */
  webhookKey: Type.Optional(Type.String()),
  /** The local account in the database of the last start. */
  accountId: Type.Optional(Type.String()),
  apiKey: Type.Optional(Type.String()),
  /** The local account of each database. */
  accounts: Type.Optional(Type.Record(Type.String(), LocalAccount)),
  /** The address of the last start. */
  url: Type.Optional(Type.String()),
  /** The database of the last start. */
  databaseUrl: Type.Optional(Type.String()),
});
export type Secrets = Static<typeof Secrets>;

export function loadSecrets(folder: string): Secrets & { receiptKey: string; webhookKey: string } {
  const file = join(folder, 'secrets.json');
  if (!existsSync(file)) {
    if (existsSync(join(folder, 'postgres')))
      throw new Failure(
        `${file} is gone, and with it the password of the data beside it: put it back, or remove ${folder} to begin anew.`,
      );
    saveSecrets(folder, {
      postgresPassword: newSecret(),
      redisPassword: newSecret(),
      keyPepper: newSecret(),
      cookieSecret: newSecret(),
      receiptKey: newSecret(),
      webhookKey: newSecret(),
    });
  }
  try {
    return { receiptKey: newSecret(), webhookKey: newSecret(), ...readJson(Secrets, readFileSync(file, 'utf8')) };
  } catch {
    throw new Failure(
      `${file} does not hold the secrets of this clone as JSON: put it back, or remove ${folder} to begin anew.`,
    );
  }
}

/** Written atomically, even if the power fails. */
export function saveSecrets(folder: string, secrets: Secrets): void {
  const aside = join(folder, 'secrets.json.new');
  const file = openSync(aside, 'w', 0o600);
  try {
    writeSync(file, `${JSON.stringify(secrets, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(aside, join(folder, 'secrets.json'));
}
