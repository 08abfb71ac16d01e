import type { IncomingTransfer } from '@eloquentpoll/storage';
import type { DepositSettings } from '../../config/payment-settings.ts';
import {
  AUTHORIZATION_USED,
  abiWord,
  type FinalBlock,
  hasTopics,
  NodeRefusal,
  quantity,
  TRANSFER,
  tokenNode,
} from './token-node.ts';

// All transfers of the token to us and from us, in final blocks.

const BALANCE_OF = '0x70a08231';

export interface Transfers {
  final(): Promise<FinalBlock | null>;
  /** Transfers to us in these blocks, and the change of our balance. Both ends are included. */
  between(first: bigint, last: bigint): Promise<{ incoming: IncomingTransfer[]; netU: bigint }>;
  /** Null if the node does not keep the state at that block. */
  balanceAt(block: bigint): Promise<bigint | null>;
}

export function openTransfers(settings: DepositSettings): Transfers {
  const { chainId } = settings;
  const [asset, payTo] = [bytes(settings.asset), bytes(settings.payTo)];
  const { call, final, logs, receipt } = tokenNode(settings);
  const us = `0x${abiWord(payTo)}`;

  /** The token emits AuthorizationUsed directly before the Transfer that it authorizes. */
  async function nonceOf(txHash: string, logIndex: number, payer: Buffer): Promise<Buffer | null> {
    const found = await receipt(txHash);
    if (!found) throw new Error('the node has an event of a transaction that it does not have');
    const before = found.logs.find((log) => Number(log.logIndex) === logIndex - 1);
    const nonce = before?.topics[2];
    const isItsOwn =
      nonce !== undefined &&
      before?.address.toLowerCase() === settings.asset &&
      hasTopics(before.topics, [AUTHORIZATION_USED, abiWord(payer), nonce.toLowerCase()]);
    return isItsOwn ? bytes(nonce) : null;
  }

  return {
    final,
    async between(first, last) {
      const incoming: IncomingTransfer[] = [];
      let netU = 0n;
      for await (const { topics, data, transactionHash, logIndex } of logs([TRANSFER, null, us], first, last)) {
        const payer = bytes(topics[1] ?? '').subarray(-20);
        const amountU = BigInt(data);
        const nonce = await nonceOf(transactionHash, Number(logIndex), payer);
        const at = { txHash: bytes(transactionHash), logIndex: Number(logIndex) };
        incoming.push({ chainId, asset, payTo, payer, amountU, nonce, ...at });
        netU += amountU;
      }
      for await (const { data } of logs([TRANSFER, us], first, last)) netU -= BigInt(data);
      return { incoming, netU };
    },
    async balanceAt(block) {
      try {
        return BigInt(await call(BALANCE_OF + abiWord(payTo), quantity(block)));
      } catch (error) {
        if (error instanceof NodeRefusal) return null;
        throw error;
      }
    },
  };
}

const bytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');
