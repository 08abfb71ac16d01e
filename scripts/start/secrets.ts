import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '@eloquentpoll/launch/failure';
import { readJson } from '@eloquentpoll/services/json';
import { newSecret } from '@eloquentpoll/services/secret';
import { type Static, Type } from '@sinclair/typebox';

// Made once per clone and kept where only its owner reads: passwords of the embedded services, the pepper of API keys,
// the keys of cookies, receipts and webhooks, the local account. Without them the data of earlier starts would be worthless.

const LocalAccount = Type.Object({ accountId: Type.String(), apiKey: Type.String() });

export const Secrets = Type.Object({
  postgresPassword: Type.String(),
  redisPassword: Type.String(),
  keyPepper: Type.String(),
  cookieSecret: Type.String(),
  /** Signs receipts. Missing where a clone was last started before there were any. */
  receiptKey: Type.Optional(Type.String()),
  /** Seals the signing secrets of webhooks. Missing likewise. */
  webhookKey: Type.Optional(Type.String()),
  /** The local account of the database that the product was last started with. */
  accountId: Type.Optional(Type.String()),
  apiKey: Type.Optional(Type.String()),
  /** Those of each database. */
  accounts: Type.Optional(Type.Record(Type.String(), LocalAccount)),
  /** Where the product was last started. */
  url: Type.Optional(Type.String()),
  /** Its database then. */
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

/** Complete or not at all, also when the power goes. */
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
