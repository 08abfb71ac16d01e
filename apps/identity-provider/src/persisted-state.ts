import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Kept between starts: the signing key and the cookie key, so that tokens and sessions stay valid, and the port,
// because it is part of the issuer, to which accounts belong.

export interface PersistedState {
  signingKey: Record<string, unknown>;
  cookieKey: string;
  port: number;
}

export function readState(folder: string): PersistedState {
  try {
    return JSON.parse(readFileSync(fileIn(folder), 'utf8')) as PersistedState;
  } catch {
    // If the file is missing or unreadable, a new state only logs everyone out.
    return { signingKey: newSigningKey(), cookieKey: randomBytes(32).toString('hex'), port: 0 };
  }
}

export function writeState(folder: string, state: PersistedState): void {
  writeFileSync(`${fileIn(folder)}.new`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${fileIn(folder)}.new`, fileIn(folder));
}

const fileIn = (folder: string): string => join(folder, 'identity-provider.json');

function newSigningKey(): Record<string, unknown> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: randomBytes(8).toString('hex') };
}
