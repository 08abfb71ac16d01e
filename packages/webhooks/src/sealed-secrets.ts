import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

// Signing secrets as stored: `v1.<key>.<nonce, ciphertext and tag>`, AES-256-GCM. The endpoint's id is authenticated
// with them, so that a secret copied to another row cannot be opened.

export interface SecretBox {
  seal(secret: string, endpointId: string): string;
  /** Throws if it was sealed with an unknown key or for another endpoint, or was modified. */
  open(sealed: string, endpointId: string): string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Seals with the first key and opens with any, so that keys can be rotated. */
export function openSecretBox(sealingKeys: readonly string[]): SecretBox {
  const keys = sealingKeys.map(keyOf);
  const [newest] = keys;
  if (!newest) throw new Error('at least one sealing key is needed');
  return {
    seal(secret, endpointId) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', newest.bytes, nonce).setAAD(Buffer.from(endpointId));
      const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `v1.${newest.id}.${sealed.toString('base64url')}`;
    },
    open(sealed, endpointId) {
      const [version, id, text = ''] = sealed.split('.');
      const key = keys.find((known) => known.id === id);
      if (version !== 'v1' || !key) throw new Error('the secret was sealed with a key that is not configured');
      const bytes = Buffer.from(text, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(endpointId)).setAuthTag(bytes.subarray(-TAG_BYTES));
      return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    },
  };
}

function keyOf(secret: string): { id: string; bytes: Buffer } {
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', 'webhook secrets', 32));
  return { id: createHash('sha256').update(bytes).digest('base64url').slice(0, 8), bytes };
}
