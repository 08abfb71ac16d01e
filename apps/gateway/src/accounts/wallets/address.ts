// ethers is loaded at the first wallet request, to keep startup short and idle memory low.

/** The address in EIP-55 form; null if the text is not an address. Mixed case is a checksum and must be correct. */
export async function readAddress(text: string): Promise<string | null> {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return null;
  const { getAddress } = await import('ethers');
  try {
    return getAddress(text);
  } catch {
    return null;
  }
}

/** Bytes are stored and compared, because they have no upper or lower case. */
export const bytesOf = (address: string): Buffer => Buffer.from(address.slice(2), 'hex');
