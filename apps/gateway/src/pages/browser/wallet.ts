// The browser's wallet (EIP-1193), limited to the requests we make: its account, and two kinds of signatures.

export interface Wallet {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>;
}

declare global {
  interface Window {
    ethereum?: Wallet;
  }
}

/** The account that the wallet's owner chooses. */
export async function connect(wallet: Wallet): Promise<string> {
  const accounts = await wallet.request({ method: 'eth_requestAccounts' });
  const [address] = Array.isArray(accounts) ? (accounts as unknown[]) : [];
  if (typeof address !== 'string') throw new Error('The wallet named no account.');
  return address;
}

export async function signText(wallet: Wallet, address: string, text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const hex = `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  return String(await wallet.request({ method: 'personal_sign', params: [hex, address] }));
}

export async function signTyped(wallet: Wallet, address: string, data: object): Promise<string> {
  return String(await wallet.request({ method: 'eth_signTypedData_v4', params: [address, JSON.stringify(data)] }));
}

/** Switches the wallet to the chain: it signs only for its current one. */
export async function beOn(wallet: Wallet, chainId: number): Promise<void> {
  const wanted = `0x${chainId.toString(16)}`;
  if (String(await wallet.request({ method: 'eth_chainId' })).toLowerCase() === wanted) return;
  await wallet.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: wanted }] });
}

/** The message for an error from the wallet. */
export function refusalOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : 0;
  if (code === 4001) return 'You declined in the wallet. Nothing happened.';
  return `The wallet could not do it: ${error instanceof Error ? error.message : 'it gave no reason'}`;
}
