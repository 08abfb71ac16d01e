import { askNode } from '../../accounts/wallets/ethereum-node.ts';
import type { DepositSettings } from '../../config/payment-settings.ts';

// The operator's node, limited to the token that is used for deposits.

const TIMEOUT_MS = 5_000;

// Event topics of USDC (FiatToken with EIP-3009).
export const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

export interface Log {
  address: string;
  topics: string[];
  data: string;
  logIndex: string;
  transactionHash: string;
  blockNumber: string;
  removed?: boolean;
}

export interface Receipt {
  status: string;
  blockNumber: string;
  logs: Log[];
}

export interface FinalBlock {
  number: bigint;
  at: Date;
}

/** The node answered, with an error. */
export class NodeRefusal extends Error {
  override name = 'NodeRefusal';
}

export interface TokenNode {
  ask<T>(method: string, params: readonly unknown[]): Promise<T>;
  /** Calls the token, by default in its latest state, otherwise in its state at that block. */
  call(data: string, block?: string): Promise<string>;
  head(): Promise<bigint>;
  /** The newest block that cannot be undone; null if the node has none. */
  final(): Promise<FinalBlock | null>;
  /** The token's events, including both ends. Nodes refuse long ranges, so the range is read in parts. */
  logs(topics: readonly (string | null)[], first: bigint, last: bigint): AsyncGenerator<Log>;
  receipt(txHash: string): Promise<Receipt | null>;
}

export function tokenNode({ rpcUrl, asset, logRange }: DepositSettings): TokenNode {
  async function ask<T>(method: string, params: readonly unknown[]): Promise<T> {
    const { result, error } = await askNode(rpcUrl, method, params, TIMEOUT_MS);
    if (result === undefined) throw new NodeRefusal(`the node refused ${method} (${Number(error?.code)})`);
    return result as T;
  }
  return {
    ask,
    call: (data, block = 'latest') => ask<string>('eth_call', [{ to: asset, data }, block]),
    head: async () => BigInt(await ask<string>('eth_blockNumber', [])),
    async final() {
      const block = await ask<{ number: string; timestamp: string } | null>('eth_getBlockByNumber', [
        'finalized',
        false,
      ]);
      return block && { number: BigInt(block.number), at: new Date(Number(block.timestamp) * 1_000) };
    },
    async *logs(topics, first, last) {
      for (let from = first; from <= last; from += BigInt(logRange)) {
        const to = from + BigInt(logRange) - 1n;
        // biome-ignore lint/complexity/useMathMinMax: Math.min takes no bigint
        const end = to < last ? to : last;
        const range = { fromBlock: quantity(from), toBlock: quantity(end) };
        const logs = await ask<Log[]>('eth_getLogs', [{ address: asset, topics, ...range }]);
        yield* logs.filter(({ removed }) => !removed);
      }
    },
    receipt: (txHash) => ask<Receipt | null>('eth_getTransactionReceipt', [txHash]),
  };
}

export const quantity = (value: bigint): string => `0x${value.toString(16)}`;

/** ABI encoding of call data and topics: 32 bytes. */
export const abiWord = (bytes: Buffer): string => bytes.toString('hex').padStart(64, '0');

export const hasTopics = (topics: readonly string[], expected: readonly string[]): boolean =>
  topics.length === expected.length &&
  expected.every((topic, i) => topics[i]?.toLowerCase().replace('0x', '') === topic.replace('0x', ''));
