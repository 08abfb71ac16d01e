import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import {
  type Account,
  type Address,
  createWalletClient,
  defineChain,
  getContract,
  type Hex,
  http,
  publicActions,
  testActions,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { compileToken } from './compile.ts';

// A real chain for one test file: anvil under the id of Base Sepolia, with our own token on it and wallets that hold it.

const CHAIN_ID = 84_532;

export async function openChain(t: Test) {
  const [url, { abi, bytecode }] = await Promise.all([startAnvil(t), compileToken()]);
  const chain = defineChain({
    id: CHAIN_ID,
    name: 'anvil',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  });
  const clientOf = (account: Account) =>
    createWalletClient({ account, chain, transport: http(url), pollingInterval: 50 })
      .extend(publicActions)
      .extend(testActions({ mode: 'anvil' }));

  const newAccount = () => privateKeyToAccount(generatePrivateKey());
  const bank = clientOf(newAccount());
  const withEther = async (address: Address) => bank.setBalance({ address, value: 10n ** 20n });
  await withEther(bank.account.address);
  const { contractAddress } = await bank.waitForTransactionReceipt({
    hash: await bank.deployContract({ abi, bytecode }),
  });
  if (!contractAddress) throw new Error('the token was not deployed');
  const token = getContract({ address: contractAddress, abi, client: bank });
  const write = async (name: string, args: readonly unknown[], by = bank): Promise<Hex> => {
    const hash = await by.writeContract({
      address: contractAddress,
      abi,
      functionName: name,
      args,
      account: by.account,
      chain,
    });
    await bank.waitForTransactionReceipt({ hash });
    return hash;
  };

  return {
    url,
    chainId: CHAIN_ID,
    asset: contractAddress.toLowerCase() as Hex,
    bank,
    withEther,
    write,
    clientOf,
    newAccount,
    balanceOf: async (address: Address) => (await token.read.balanceOf!([address])) as bigint,
    /** A wallet with this many dollars, and ether only if it has to send something itself. */
    async payer(usd: number) {
      const key = generatePrivateKey();
      const account = privateKeyToAccount(key);
      if (usd > 0) await write('mint', [account.address, BigInt(usd) * 1_000_000n]);
      return { key, account, client: clientOf(account) };
    },
    /** A key whose address can pay fees. */
    async signerKey(): Promise<Hex> {
      const key = generatePrivateKey();
      await withEther(privateKeyToAccount(key).address);
      return key;
    },
  };
}

export type Chain = Awaited<ReturnType<typeof openChain>>;

async function startAnvil(t: Test): Promise<string> {
  const program = fileURLToPath(import.meta.resolve('@foundry-rs/anvil/package.json')).replace(
    'package.json',
    'bin.mjs',
  );
  const anvil = spawn(process.execPath, [program, '--port', '0', '--chain-id', String(CHAIN_ID)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  t.teardown(async () => {
    if (anvil.exitCode === null && anvil.kill()) await once(anvil, 'exit');
  });
  for await (const line of createInterface(anvil.stdout)) {
    const [, address] = /^Listening on (\S+)/.exec(line) ?? [];
    if (address === undefined) continue;
    anvil.stdout.resume();
    return `http://${address}`;
  }
  throw new Error('anvil ended before it listened');
}
