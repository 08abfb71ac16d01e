import type { Authorization } from '@eloquentpoll/storage';
import { askNode } from '../../accounts/wallets/ethereum-node.ts';
import type { DepositSettings } from '../../config/payment-settings.ts';
import type { TokenDomain } from './terms.ts';

// What the chain itself says, through the operator's node. Only this makes a deposit good: a facilitator is believed when
// the money can be seen.

const TIMEOUT_MS = 5_000;
/** Somebody else may have used the authorization before its proof reached us; on Base this is half an hour. */
const BLOCKS_BEFORE = 1_000n;

// Event topics and function selectors of USDC (FiatToken with EIP-3009).
const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const AUTHORIZATION_STATE = '0xe94a0102';
const BALANCE_OF = '0x70a08231';
const NAME = '0x06fdde03';
const VERSION = '0x54fd4d50';
const DECIMALS = '0x313ce567';

export interface Payout {
  txHash: Buffer;
  /** How many blocks agree with it: 1 in the newest one. */
  depth: bigint;
}

export interface Chain {
  /** Read once; throws when the node is away, of another chain, or the token is none with six decimals. */
  token(): Promise<TokenDomain>;
  head(): Promise<bigint>;
  /** Why it cannot be settled: it was used or cancelled, or the payer has less than it says. */
  obstacle(authorization: Authorization): Promise<'used' | 'poor' | null>;
  /** The transfer to us that used the authorization; `txHash` is where it is said to be. */
  payout(authorization: Authorization, fromBlock: bigint, txHash?: Buffer): Promise<Payout | null>;
}

interface Log {
  address: string;
  topics: string[];
  data: string;
  logIndex: string;
  transactionHash: string;
  blockNumber: string;
  removed?: boolean;
}

interface Receipt {
  status: string;
  blockNumber: string;
  logs: Log[];
}

export function openChain({ rpcUrl, chainId, asset }: DepositSettings): Chain {
  async function ask<T>(method: string, params: readonly unknown[]): Promise<T> {
    const { result, error } = await askNode(rpcUrl, method, params, TIMEOUT_MS);
    if (result === undefined) throw new Error(`the node refused ${method} (${Number(error?.code)})`);
    return result as T;
  }
  const call = (data: string) => ask<string>('eth_call', [{ to: asset, data }, 'latest']);
  const head = async () => BigInt(await ask<string>('eth_blockNumber', []));

  async function readToken(): Promise<TokenDomain> {
    const chain = Number(await ask<string>('eth_chainId', []));
    if (chain !== chainId) throw new Error(`ETH_RPC_URL is a node of chain ${chain}, not of ${chainId}`);
    const [name, version, decimals] = await Promise.all([call(NAME), call(VERSION), call(DECIMALS)]);
    if (BigInt(decimals) !== 6n) throw new Error('X402_ASSET has not six decimals');
    const { AbiCoder } = await import('ethers');
    const text = (answer: string): string => AbiCoder.defaultAbiCoder().decode(['string'], answer)[0];
    return { name: text(name), version: text(version) };
  }

  async function payoutIn(txHash: string, authorization: Authorization): Promise<Payout | null> {
    const receipt = await ask<Receipt | null>('eth_getTransactionReceipt', [txHash]);
    if (receipt?.status !== '0x1' || !paysUs(receipt.logs, asset, authorization)) return null;
    return {
      txHash: Buffer.from(txHash.slice(2), 'hex'),
      depth: (await head()) - BigInt(receipt.blockNumber) + 1n,
    };
  }

  let token: Promise<TokenDomain> | undefined;
  return {
    head,
    token() {
      token ??= readToken().catch((error: unknown) => {
        token = undefined;
        throw error;
      });
      return token;
    },
    async obstacle({ payer, nonce, amountU }) {
      const [state, balance] = await Promise.all([
        call(AUTHORIZATION_STATE + word(payer) + word(nonce)),
        call(BALANCE_OF + word(payer)),
      ]);
      if (BigInt(state) !== 0n) return 'used';
      return BigInt(balance) < amountU ? 'poor' : null;
    },
    async payout(authorization, fromBlock, txHash) {
      const hinted = txHash ? await payoutIn(`0x${txHash.toString('hex')}`, authorization) : null;
      if (hinted) return hinted;
      const first = fromBlock > BLOCKS_BEFORE ? fromBlock - BLOCKS_BEFORE : 0n;
      const logs = await ask<Log[]>('eth_getLogs', [
        {
          address: asset,
          topics: [AUTHORIZATION_USED, `0x${word(authorization.payer)}`, `0x${word(authorization.nonce)}`],
          fromBlock: `0x${first.toString(16)}`,
          toBlock: 'latest',
        },
      ]);
      // The token lets an authorization be used once; after a reorganisation the node may know of two places.
      for (const log of logs.filter(({ removed }) => !removed)) {
        const found = await payoutIn(log.transactionHash, authorization);
        if (found) return found;
      }
      return null;
    },
  };
}

/**
 * Whether this very authorization moved the money to us. One transaction can hold several transfers, also of one payer to
 * us; the one that belongs to an authorization is the token's next event.
 */
function paysUs(logs: readonly Log[], asset: string, { payer, nonce, payTo, amountU }: Authorization): boolean {
  const ofAsset = (log: Log): boolean => log.address.toLowerCase() === asset;
  const used = logs.find((log) => ofAsset(log) && is(log.topics, [AUTHORIZATION_USED, word(payer), word(nonce)]));
  const next = used && logs.find((log) => Number(log.logIndex) === Number(used.logIndex) + 1);
  return (
    next !== undefined &&
    ofAsset(next) &&
    is(next.topics, [TRANSFER, word(payer), word(payTo)]) &&
    BigInt(next.data) === amountU
  );
}

const is = (topics: readonly string[], wanted: readonly string[]): boolean =>
  topics.length === wanted.length &&
  wanted.every((topic, i) => topics[i]?.toLowerCase().replace('0x', '') === topic.replace('0x', ''));

/** As 32 bytes of call data or a topic. */
const word = (bytes: Buffer): string => bytes.toString('hex').padStart(64, '0');
