// Who signed a message with a key of their own (EIP-191). One signature has one spelling here: 65 bytes, low s, v of 27
// or 28, which some wallets write as 0 or 1. A second valid signature cannot be made from a first.

const FORM = /^0x([0-9a-fA-F]{64})([0-9a-fA-F]{64})([0-9a-fA-F]{2})$/;
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const V: Record<string, 27 | 28> = { '00': 27, '01': 28, '1b': 27, '1c': 28 };

/** The address in its EIP-55 spelling; null when the signature is not one. */
export async function signerOf(message: string, signature: string): Promise<string | null> {
  const [, r = '', s = '', v = ''] = FORM.exec(signature) ?? [];
  const canonicalV = V[v.toLowerCase()];
  if (!canonicalV || !within(r, ORDER - 1n) || !within(s, ORDER / 2n)) return null;
  const { hashMessage, recoverAddress } = await import('ethers');
  try {
    return recoverAddress(hashMessage(message), { r: `0x${r}`, s: `0x${s}`, v: canonicalV });
  } catch {
    // r is the coordinate of no point.
    return null;
  }
}

const within = (hex: string, most: bigint): boolean => {
  const value = BigInt(`0x${hex}`);
  return value > 0n && value <= most;
};
