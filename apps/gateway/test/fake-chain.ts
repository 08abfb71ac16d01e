import { randomBytes } from 'node:crypto';
import { AbiCoder, id } from 'ethers';
import type { Test } from 'tap';
import { loopbackServer } from './loopback-server.ts';

// A chain with one token, behind JSON-RPC, as far as deposits look at it: blocks, events, receipts. The suite with a
// real chain and a real token is test-chain.

export const TOKEN = '0x00000000000000000000000000000000000000aa';
export const DOMAIN = { name: 'Test USDC', version: '2' };

export interface Move {
  from: string;
  to: string;
  value: bigint;
  nonce: string;
}

interface Log {
  address: string;
  topics: string[];
  data: string;
  logIndex: string;
  transactionHash: string;
  blockNumber: string;
}

const used = id('AuthorizationUsed(address,bytes32)');
const transfer = id('Transfer(address,address,uint256)');
const topic = (hex: string) => `0x${hex.replace(/^0x/i, '').toLowerCase().padStart(64, '0')}`;
const quantity = (value: number) => `0x${value.toString(16)}`;

export async function fakeChain(t: Pick<Test, 'teardown'>) {
  const logs: Log[] = [];
  const failed = new Set<string>();
  const state = { block: 5_000, chainId: 84_532, down: false, decimals: 6n };

  const url = await loopbackServer(t, ({ request, body, reply }) => {
    if (state.down) return request.socket.destroy();
    const { method, params } = JSON.parse(body);
    return reply(200, { jsonrpc: '2.0', id: 1, result: answer(method, params) });
  });

  function answer(method: string, params: readonly unknown[]): unknown {
    if (method === 'eth_chainId') return quantity(state.chainId);
    if (method === 'eth_blockNumber') return quantity(state.block);
    if (method === 'eth_call') return call((params[0] as { data: string }).data);
    if (method === 'eth_getTransactionReceipt') {
      const own = logs.filter(({ transactionHash }) => transactionHash === params[0]);
      if (own.length === 0) return null;
      return { status: failed.has(String(params[0])) ? '0x0' : '0x1', blockNumber: own[0]!.blockNumber, logs: own };
    }
    const filter = params[0] as { address: string; topics: string[]; fromBlock: string };
    return logs.filter(
      (log) =>
        log.address === filter.address &&
        filter.topics.every((wanted, i) => log.topics[i] === wanted) &&
        Number(log.blockNumber) >= Number(filter.fromBlock),
    );
  }

  function call(data: string): string {
    const text = (value: string) => AbiCoder.defaultAbiCoder().encode(['string'], [value]);
    const selector = data.slice(0, 10);
    if (selector === id('name()').slice(0, 10)) return text(DOMAIN.name);
    if (selector === id('version()').slice(0, 10)) return text(DOMAIN.version);
    if (selector === id('decimals()').slice(0, 10)) return topic(state.decimals.toString(16));
    if (selector === id('balanceOf(address)').slice(0, 10)) return topic((10n ** 12n).toString(16));
    return topic('0');
  }

  /** One transaction with these events, in this order, as a block of its own. */
  function transaction(events: { address?: string; topics: string[]; data?: string }[], status = true): string {
    const transactionHash = `0x${randomBytes(32).toString('hex')}`;
    state.block++;
    for (const [i, { address = TOKEN, topics, data = '0x' }] of events.entries())
      logs.push({
        address,
        topics,
        data,
        logIndex: quantity(i),
        transactionHash,
        blockNumber: quantity(state.block),
      });
    if (!status) failed.add(transactionHash);
    return transactionHash;
  }

  const usedEvent = ({ from, nonce }: Pick<Move, 'from' | 'nonce'>) => ({ topics: [used, topic(from), topic(nonce)] });
  const transferEvent = ({ from, to, value }: Omit<Move, 'nonce'>) => ({
    topics: [transfer, topic(from), topic(to)],
    data: topic(value.toString(16)),
  });
  const isUsed = ({ from, nonce }: Pick<Move, 'from' | 'nonce'>) =>
    logs.some(({ topics }) => topics[0] === used && topics[1] === topic(from) && topics[2] === topic(nonce));

  return {
    url,
    state,
    transaction,
    usedEvent,
    transferEvent,
    isUsed,
    /** What transferWithAuthorization does; null when the authorization was used. */
    settle: (move: Move): string | null => (isUsed(move) ? null : transaction([usedEvent(move), transferEvent(move)])),
    mine: (blocks: number) => {
      state.block += blocks;
    },
  };
}

export type FakeChain = Awaited<ReturnType<typeof fakeChain>>;
