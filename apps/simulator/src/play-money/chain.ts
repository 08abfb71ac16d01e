import { createHash } from 'node:crypto';
import { type Move, word } from './token.ts';

// A simulated chain with one token, as far as deposits need it: blocks, events, receipts. Block numbers follow the
// clock, so that they continue after a restart.

const BLOCK_MS = 250;
const USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** How many transactions are kept. Queries go back only minutes. */
const MAX_TRANSACTIONS = 10_000;

interface Log {
  address: string;
  topics: string[];
  data: string;
  logIndex: string;
  transactionHash: string;
  blockNumber: string;
}

export interface LogFilter {
  address: string;
  topics: readonly (string | null)[];
  fromBlock: string;
  toBlock: string;
}

export interface PlayChain {
  /** The number of the newest block, in the protocol's format. */
  head(): string;
  /** The newest block. Every block is final at once. */
  newest(): { number: string; timestamp: string };
  isUsed(by: Pick<Move, 'from' | 'nonce'>): boolean;
  /** Returns the transaction that moves the money. Null if the authorization was already used. */
  settle(token: string, move: Move): string | null;
  receipt(transactionHash: string): object | null;
  logs(filter: LogFilter): Log[];
}

export function playChain(): PlayChain {
  const transactions = new Map<string, Log[]>();
  const head = () => `0x${Math.floor(Date.now() / BLOCK_MS).toString(16)}`;
  // The hash depends only on the authorization, so a second use is detected by its existing transaction.
  const hashOf = ({ from, nonce }: Pick<Move, 'from' | 'nonce'>) =>
    `0x${createHash('sha256')
      .update(`${word(from)}${word(nonce)}`)
      .digest('hex')}`;
  return {
    head,
    newest: () => ({ number: head(), timestamp: `0x${Math.floor(Date.now() / 1_000).toString(16)}` }),
    isUsed: (by) => transactions.has(hashOf(by)),
    settle(token, move) {
      const transactionHash = hashOf(move);
      if (transactions.has(transactionHash)) return null;
      const { from, to, nonce, value } = move;
      const common = { address: token, transactionHash, blockNumber: head() };
      transactions.set(transactionHash, [
        { ...common, logIndex: '0x0', topics: [USED, `0x${word(from)}`, `0x${word(nonce)}`], data: '0x' },
        {
          ...common,
          logIndex: '0x1',
          topics: [TRANSFER, `0x${word(from)}`, `0x${word(to)}`],
          data: `0x${word(value.toString(16))}`,
        },
      ]);
      const [oldest] = transactions.keys();
      if (transactions.size > MAX_TRANSACTIONS && oldest !== undefined) transactions.delete(oldest);
      return transactionHash;
    },
    receipt(transactionHash) {
      const logs = transactions.get(transactionHash.toLowerCase());
      return logs ? { status: '0x1', transactionHash, blockNumber: logs[0]?.blockNumber, logs } : null;
    },
    logs: ({ address, topics, fromBlock, toBlock }) =>
      [...transactions.values()]
        .flat()
        .filter(
          (log) =>
            log.address === address.toLowerCase() &&
            topics.every((topic, i) => topic === null || log.topics[i] === topic.toLowerCase()) &&
            BigInt(log.blockNumber) >= BigInt(fromBlock) &&
            BigInt(log.blockNumber) <= BigInt(toBlock),
        ),
  };
}
