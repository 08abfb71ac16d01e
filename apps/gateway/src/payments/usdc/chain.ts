import type { Authorization } from '@eloquentpoll/storage';
import type { DepositSettings } from '../../config/payment-settings.ts';
import { madeOnce } from '../../http/made-once.ts';
import type { TokenDomain } from './terms.ts';
import { AUTHORIZATION_USED, abiWord, hasTopics, type Log, quantity, TRANSFER, tokenNode } from './token-node.ts';

// Reads the chain through the operator's node. A deposit is credited only for a transfer found here, whatever the
// facilitator reports.

/** The authorization may have been used before its proof reached us. On Base this is half an hour. */
const BLOCKS_BEFORE = 1_000n;

// Function selectors of USDC (FiatToken with EIP-3009).
const AUTHORIZATION_STATE = '0xe94a0102';
const BALANCE_OF = '0x70a08231';
const NAME = '0x06fdde03';
const VERSION = '0x54fd4d50';
const DECIMALS = '0x313ce567';

export interface ChainTransfer {
  txHash: Buffer;
  block: bigint;
  /** Number of confirmations: 1 in the newest block. */
  depth: bigint;
}

export interface Chain {
  /** Cached. Throws if the node is away, on another chain or too limited, or if the token lacks six decimals. */
  token(): Promise<TokenDomain>;
  head(): Promise<bigint>;
  /** Why an authorization cannot settle: it was used or canceled, or the payer's balance is too low. */
  obstacle(authorization: Authorization): Promise<'used' | 'insufficient_funds' | null>;
  /** The transfer to us by this authorization. The transaction `txHash` is searched first. */
  findTransfer(authorization: Authorization, fromBlock: bigint, txHash?: Buffer): Promise<ChainTransfer | null>;
  /** Whether a final block shows that the authorization expired unused, so that it can never move money. */
  ranOutUnused(authorization: Authorization, validBefore: Date): Promise<boolean>;
}

export function openChain(settings: DepositSettings): Chain {
  const { chainId, asset, logRange } = settings;
  const { ask, call, head, final, logs, receipt } = tokenNode(settings);
  const isUsed = async ({ payer, nonce }: Authorization, block?: string) =>
    BigInt(await call(AUTHORIZATION_STATE + abiWord(payer) + abiWord(nonce), block)) !== 0n;

  async function requireLogs(): Promise<void> {
    const last = await head();
    const first = last >= BigInt(logRange) ? last - BigInt(logRange) + 1n : 0n;
    const probe = `0x${'0'.repeat(63)}1`;
    for await (const log of logs([AUTHORIZATION_USED, probe, probe], first, last)) void log;
  }

  async function readToken(): Promise<TokenDomain> {
    const chain = Number(await ask<string>('eth_chainId', []));
    if (chain !== chainId) throw new Error(`ETH_RPC_URL is a node of chain ${chain}, not of ${chainId}`);
    const [name, version, decimals] = await Promise.all([call(NAME), call(VERSION), call(DECIMALS)]);
    if (BigInt(decimals) !== 6n) throw new Error('X402_ASSET must be a token with six decimals');
    await requireLogs().catch((cause: unknown) => {
      throw new Error(`ETH_RPC_URL does not answer eth_getLogs over ETH_LOG_RANGE (${logRange}) blocks`, { cause });
    });
    const { AbiCoder } = await import('ethers');
    const text = (answer: string): string => String(AbiCoder.defaultAbiCoder().decode(['string'], answer)[0]);
    return { name: text(name), version: text(version) };
  }

  async function transferIn(txHash: string, authorization: Authorization): Promise<ChainTransfer | null> {
    const found = await receipt(txHash);
    if (found?.status !== '0x1' || !paysUs(found.logs, asset, authorization)) return null;
    const block = BigInt(found.blockNumber);
    return { txHash: Buffer.from(txHash.slice(2), 'hex'), block, depth: (await head()) - block + 1n };
  }

  return {
    head,
    token: madeOnce(readToken),
    async obstacle(authorization) {
      const [used, balance] = await Promise.all([
        isUsed(authorization),
        call(BALANCE_OF + abiWord(authorization.payer)),
      ]);
      if (used) return 'used';
      return BigInt(balance) < authorization.amountU ? 'insufficient_funds' : null;
    },
    async findTransfer(authorization, fromBlock, txHash) {
      const hinted = txHash ? await transferIn(`0x${txHash.toString('hex')}`, authorization) : null;
      if (hinted) return hinted;
      if (!(await isUsed(authorization))) return null;
      const first = fromBlock > BLOCKS_BEFORE ? fromBlock - BLOCKS_BEFORE : 0n;
      const topics = [AUTHORIZATION_USED, `0x${abiWord(authorization.payer)}`, `0x${abiWord(authorization.nonce)}`];
      // An authorization is used once, but after a chain reorganisation a node may report two transactions.
      for await (const log of logs(topics, first, await head())) {
        const found = await transferIn(log.transactionHash, authorization);
        if (found) return found;
      }
      return null;
    },
    async ranOutUnused(authorization, validBefore) {
      const block = await final();
      if (!block || block.at <= validBefore) return false;
      // Asks at exactly that block: a node that has not reached it fails instead of answering from an older state.
      return !(await isUsed(authorization, quantity(block.number)));
    },
  };
}

/**
 * Whether this authorization moved the money to us. A transaction can contain several transfers, even from one payer to
 * us; the token emits an authorization's Transfer event directly after its AuthorizationUsed event.
 */
function paysUs(logs: readonly Log[], asset: string, { payer, nonce, payTo, amountU }: Authorization): boolean {
  const ofAsset = (log: Log): boolean => log.address.toLowerCase() === asset;
  const used = logs.find(
    (log) => ofAsset(log) && hasTopics(log.topics, [AUTHORIZATION_USED, abiWord(payer), abiWord(nonce)]),
  );
  const next = used && logs.find((log) => Number(log.logIndex) === Number(used.logIndex) + 1);
  return (
    next !== undefined &&
    ofAsset(next) &&
    hasTopics(next.topics, [TRANSFER, abiWord(payer), abiWord(payTo)]) &&
    BigInt(next.data) === amountU
  );
}
