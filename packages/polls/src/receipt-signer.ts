import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { headerOf, type PublicKey, type SignedReceipt, thumbprinted } from '@eloquentpoll/receipts';

export interface ReceiptSigner {
  /** The current signing key, then those that signed earlier receipts. */
  readonly keys: readonly PublicKey[];
  sign(statement: string): Pick<SignedReceipt, 'payload' | 'protected' | 'signature'>;
}

/** The prefix of the 32 bytes of an Ed25519 private key (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** `seed`: the 32 bytes of the private key. `past`: public keys that are no longer used for signing. */
export function receiptSigner(seed: Uint8Array, past: readonly string[] = []): ReceiptSigner {
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
  const x = String(createPublicKey(privateKey).export({ format: 'jwk' }).x);
  const keys = [...new Set([x, ...past])].map(publicKey);
  const header = Buffer.from(headerOf(keys[0]!.kid)).toString('base64url');
  return {
    keys,
    sign(statement) {
      const payload = Buffer.from(statement).toString('base64url');
      const signature = sign(null, Buffer.from(`${header}.${payload}`), privateKey).toString('base64url');
      return { payload, protected: header, signature };
    },
  };
}

const publicKey = (x: string): PublicKey => ({
  kty: 'OKP',
  crv: 'Ed25519',
  x,
  kid: createHash('sha256').update(thumbprinted(x)).digest('base64url'),
});
