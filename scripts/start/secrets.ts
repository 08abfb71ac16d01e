import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '@eloquentpoll/launch/failure';
import { newSecret } from '@eloquentpoll/services/secret';

// Made once per clone and kept where only its owner reads: passwords of the embedded services, the pepper of API keys,
// the keys of cookies, the local account. Without them the data of earlier starts would be worthless.

export interface Secrets {
  postgresPassword: string;
  redisPassword: string;
  keyPepper: string;
  cookieSecret: string;
  accountId?: string;
  apiKey?: string;
  /** Where the product was last started. */
  url?: string;
  /** Its database then. */
  databaseUrl?: string;
}

export function loadSecrets(folder: string): Secrets {
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
    });
  }
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new Failure(`${file} cannot be read as JSON: put it back, or remove ${folder} to begin anew.`);
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
