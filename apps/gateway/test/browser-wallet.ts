import type { Page } from '@eloquentpoll/testkit/browser';
import type { HDNodeWallet } from 'ethers';

interface Call {
  method: string;
  params?: unknown[];
}

/**
 * Puts a wallet into the pages of a browser profile: `window.ethereum` over there, ethers over here. Its owner agrees to
 * everything. Resolves to what it was asked, in order.
 */
export async function installWallet(page: Page, wallet: HDNodeWallet, chainId = 84_532): Promise<string[]> {
  const asked: string[] = [];
  async function answer({ method, params = [] }: Call): Promise<unknown> {
    asked.push(method);
    switch (method) {
      case 'eth_requestAccounts':
        return [wallet.address.toLowerCase()];
      case 'eth_chainId':
        return `0x${chainId.toString(16)}`;
      case 'personal_sign':
        return wallet.signMessage(Buffer.from(String(params[0]).slice(2), 'hex'));
      case 'eth_signTypedData_v4': {
        const { domain, types, message } = JSON.parse(String(params[1]));
        delete types.EIP712Domain;
        return wallet.signTypedData(domain, types, message);
      }
      default:
        throw new Error(`the wallet does not know ${method}`);
    }
  }
  await page.context().exposeFunction('askWallet', answer);
  await page.context().addInitScript('window.ethereum = { request: (call) => window.askWallet(call) }');
  return asked;
}
