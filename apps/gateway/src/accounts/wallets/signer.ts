// Who signed a message with a key of their own (EIP-191). One signature has one spelling here: 65 bytes, low s, v of 27
// or 28, which some wallets write as 0 or 1. A second valid signature cannot be made from a first.

const FORM = /^0x([0-9a-fA-F]{64})([0-9a-fA-F]{64})([0-9a-fA-F]{2})$/;
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const V: Record<string, '1b' | '1c'> = { '00': '1b', '01': '1c', '1b': '1b', '1c': '1c' };

/** The address in its EIP-55 spelling; null when the signature is not one. */
export async function signerOf(message: string, signature: string): Promise<string | null> {
  const { hashMessage } = await import('ethers');
  return signerOfHash(hashMessage(message), signature);
}

/** The same for what was hashed already. */
export async function signerOfHash(hash: string, signature: string): Promise<string | null> {
  const canonical = canonicalSignature(signature);
  if (!canonical) return null;
  const { recoverAddress } = await import('ethers');
  try {
    return recoverAddress(hash, canonical);
  } catch {
    // r is the coordinate of no point.
    return null;
  }
}

/** The one spelling of a signature; null when it has none. */
export function canonicalSignature(signature: string): string | null {
  const [, r = '', s = '', v = ''] = FORM.exec(signature) ?? [];
  const canonicalV = V[v.toLowerCase()];
  if (!canonicalV || !within(r, ORDER - 1n) || !within(s, ORDER / 2n)) return null;
  return `0x${r}${s}${canonicalV}`.toLowerCase();
}

const within = (hex: string, most: bigint): boolean => {
  const value = BigInt(`0x${hex}`);
  return value > 0n && value <= most;
};
