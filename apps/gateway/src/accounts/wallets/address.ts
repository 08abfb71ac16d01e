// ethers is loaded when the first wallet comes: most processes start, and many live, without one.

/** The address in its EIP-55 spelling; null for what is none. Mixed case is a checksum and has to be right. */
export async function readAddress(text: string): Promise<string | null> {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return null;
  const { getAddress } = await import('ethers');
  try {
    return getAddress(text);
  } catch {
    return null;
  }
}

/** What is stored and compared: 20 bytes have one spelling. */
export const bytesOf = (address: string): Buffer => Buffer.from(address.slice(2), 'hex');
