import { fromBase64url } from './base64url.ts';
import { textHash, utf8 } from './hashes.ts';

/** A public Ed25519 key as a JWK (RFC 8037). */
export interface PublicKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  /** The key's thumbprint (RFC 7638). */
  readonly kid: string;
}

/** The text whose SHA-256 is the thumbprint. */
export const thumbprinted = (x: string): string => JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x });

export const thumbprintOf = (x: string): Promise<string> => textHash(thumbprinted(x));

/** The header of a receipt signed with this key. */
export const headerOf = (kid: string): string => JSON.stringify({ alg: 'EdDSA', kid, typ: 'JOSE+JSON' });

/** Null if this browser does not support Ed25519. */
export async function isSigned(key: PublicKey, signed: string, signature: string): Promise<boolean | null> {
  const bytes = fromBase64url(signature);
  if (bytes === null || bytes.length !== 64) return false;
  const { kty, crv, x } = key;
  const imported = await crypto.subtle
    .importKey('jwk', { kty, crv, x }, { name: 'Ed25519' }, false, ['verify'])
    .catch((error: unknown) => (isUnsupported(error) ? null : undefined));
  if (!imported) return imported === null ? null : false;
  return crypto.subtle.verify({ name: 'Ed25519' }, imported, bytes, utf8(signed));
}

const isUnsupported = (error: unknown): boolean => error instanceof Error && error.name === 'NotSupportedError';
