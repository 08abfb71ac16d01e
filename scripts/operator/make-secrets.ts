import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Generates the secrets of a compose stack. Each service gets only its own, as files in a volume that no other service
// mounts for writing. Existing secrets are kept, so that a second start can still read the data of the first.

const folder = process.env.SECRETS_FOLDER;
if (!folder) {
  console.error('SECRETS_FOLDER is not set: it is the folder that holds one folder per service');
  process.exit(2);
}

const ownerPassword = keep('postgres/owner_password', secret);
keep('postgres/superuser_password', secret);
const redisPassword = /\S+$/.exec(keep('redis/auth.conf', () => `requirepass ${secret()}`))?.[0];
const databaseUrl = (role: string, password: string) => `postgres://${role}:${password}@postgres:5432/eloquentpoll`;
const redisUrl = `redis://:${redisPassword}@redis:6379`;
for (const service of ['gateway', 'worker']) {
  const password = keep(`postgres/${service}_password`, secret);
  put(`${service}/database_url`, databaseUrl(`eloquentpoll_${service}`, password));
  put(`${service}/redis_url`, redisUrl);
}
keep('gateway/key_pepper', secret);
keep('gateway/cookie_secrets', secret);
keep('gateway/receipt_signing_key', secret);
put('worker/webhook_sealing_keys', keep('gateway/webhook_sealing_keys', secret));
put('operator/database_url', databaseUrl('eloquentpoll_gateway', keep('postgres/gateway_password', secret)));
put('migrate/migrate_database_url', databaseUrl('eloquentpoll', ownerPassword));
put('operator/admin_token', keep('gateway/admin_token', secret));
put('operator/key_pepper', keep('gateway/key_pepper', secret));
console.log(JSON.stringify({ msg: 'secrets are there' }));

function secret(): string {
  return randomBytes(32).toString('base64url');
}

function keep(name: string, make: () => string): string {
  const file = join(folder!, name);
  if (!existsSync(file)) put(name, make());
  return readFileSync(file, 'utf8').trim();
}

/** Writes the file atomically. Any user may read it, since only the service mounts its volume. */
function put(name: string, text: string): void {
  const file = join(folder!, name);
  // A run that was killed may have left one, which cannot be written again.
  rmSync(`${file}.new`, { force: true });
  writeFileSync(`${file}.new`, `${text}\n`, { mode: 0o444 });
  renameSync(`${file}.new`, file);
}
