import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// What stays from start to start: the signing key, so that tokens last; the key of the cookies; and the port, because
// it is part of the issuer and an account belongs to its issuer.

export interface Keepsakes {
  signingKey: Record<string, unknown>;
  cookieKey: string;
  port: number;
}

export function readKeepsakes(folder: string): Keepsakes {
  try {
    return JSON.parse(readFileSync(fileIn(folder), 'utf8'));
  } catch {
    // Missing or unreadable: begun anew, which logs people out and harms nobody.
    return { signingKey: newSigningKey(), cookieKey: randomBytes(32).toString('hex'), port: 0 };
  }
}

export function keep(folder: string, keepsakes: Keepsakes): void {
  writeFileSync(`${fileIn(folder)}.new`, JSON.stringify(keepsakes), { mode: 0o600 });
  renameSync(`${fileIn(folder)}.new`, fileIn(folder));
}

const fileIn = (folder: string): string => join(folder, 'identity-provider.json');

function newSigningKey(): Record<string, unknown> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: randomBytes(8).toString('hex') };
}
