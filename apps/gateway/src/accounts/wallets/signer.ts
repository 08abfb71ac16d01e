// Recovers the signer of a personal message (EIP-191). Only the canonical form is accepted (65 bytes, low s, v of 27 or
// 28; 0 and 1 are mapped), so signatures are not malleable.

const FORM = /^0x([0-9a-fA-F]{64})([0-9a-fA-F]{64})([0-9a-fA-F]{2})$/;
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const V: Record<string, '1b' | '1c'> = { '00': '1b', '01': '1c', '1b': '1b', '1c': '1c' };

/** The address in EIP-55 form; null if the signature is not canonical. */
export async function signerOf(message: string, signature: string): Promise<string | null> {
  const { hashMessage } = await import('ethers');
  return signerOfHash(hashMessage(message), signature);
}

export async function signerOfHash(hash: string, signature: string): Promise<string | null> {
  const canonical = canonicalSignature(signature);
  if (!canonical) return null;
  const { recoverAddress } = await import('ethers');
  try {
    return recoverAddress(hash, canonical);
  } catch {
    // r is not the x coordinate of a curve point.
    return null;
  }
}

/** Lower case with v of 1b or 1c; null if the signature is malformed or has a high s. */
export function canonicalSignature(signature: string): string | null {
  const [, r = '', s = '', v = ''] = FORM.exec(signature) ?? [];
  const canonicalV = V[v.toLowerCase()];
  if (!canonicalV || !within(r, ORDER - 1n) || !within(s, ORDER / 2n)) return null;
  return `0x${r}${s}${canonicalV}`.toLowerCase();
}

const within = (hex: string, max: bigint): boolean => {
  const value = BigInt(`0x${hex}`);
  return value > 0n && value <= max;
};
