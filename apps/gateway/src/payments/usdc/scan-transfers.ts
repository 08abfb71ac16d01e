import {
  advanceScan,
  claimScan,
  firstDepositBlock,
  type IncomingTransfer,
  type MoneyScan,
  matchTransfer,
  proveScan,
  rewindScan,
} from '@eloquentpoll/storage';
import type { PaymentsContext } from '../context.ts';
import type { DepositService } from './deposit-service.ts';
import { noteLostDeposits } from './note-lost-deposits.ts';
import type { FinalBlock } from './token-node.ts';

// Compares every transfer to us with the deposits, range by range, up to the newest final block. Then checks our
// balance against their sum, to detect a node that omits events, and credited deposits against the transfers.

/** On Base half an hour, because an authorization may have been used before its proof reached us. */
const BLOCKS_BEFORE = 1_000n;

export const transfersScan = ({ chainId, asset, payTo }: DepositService['settings']): string =>
  `chain ${chainId} ${asset} ${payTo}`;

export async function scanTransfers(
  context: PaymentsContext,
  deposits: DepositService,
  signal: AbortSignal,
): Promise<void> {
  const { storage, config } = context;
  const { settings, transfers } = deposits;
  const start = async () => {
    const [asset, payTo] = [hexBytes(settings.asset), hexBytes(settings.payTo)];
    const first = await firstDepositBlock(storage, { chainId: settings.chainId, asset, payTo });
    if (first === null) return (await requireFinal(deposits)).number + 1n;
    return first > BLOCKS_BEFORE ? first - BLOCKS_BEFORE : 0n;
  };
  let scan = await claimScan(storage, transfersScan(settings), start);
  if (!scan) return;
  const end = await requireFinal(deposits);
  let failures = 0;
  for (let from = scan.position; from <= end.number; ) {
    if (signal.aborted) return;
    const last: bigint = from + BigInt(settings.logRange) - 1n;
    const to = last < end.number ? last : end.number;
    const { incoming, netU } = await transfers.between(from, to);
    for (const transfer of incoming) if (!(await isMatched(context, transfer))) failures++;
    from = to + 1n;
    // The next round starts at the first failure; later ranges are still compared in this round.
    if (failures > 0) continue;
    scan = await advanceScan(storage, scan, { position: from, netU: scan.netU + netU });
    if (!scan) return;
  }
  if (failures > 0) throw new Error(`${failures} transfers could not be compared`);
  const isProved = await prove(context, deposits, { scan, end, everyS: config.reconcile.transfersS });
  if (isProved) await noteLostDeposits(context, deposits, { end, signal });
}

/** False if the comparison failed, which does not stop the others. */
async function isMatched(context: PaymentsContext, transfer: IncomingTransfer): Promise<boolean> {
  try {
    await match(context, transfer);
    return true;
  } catch (error) {
    context.log.error({ err: error, tx_hash: hexOf(transfer.txHash) }, 'deposit.match_failed');
    return false;
  }
}

const hexOf = (bytes: Buffer): string => `0x${bytes.toString('hex')}`;
const hexBytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');

async function requireFinal({ transfers }: DepositService): Promise<FinalBlock> {
  const block = await transfers.final();
  if (!block) throw new Error('the node has no final block');
  return block;
}

async function match({ storage, log, money }: PaymentsContext, transfer: IncomingTransfer): Promise<void> {
  const outcome = await matchTransfer(storage, transfer);
  const about = { tx_hash: hexOf(transfer.txHash), amount_u: String(transfer.amountU) };
  if (outcome === 'credited') {
    money.deposit('credited_later', transfer.amountU);
    log.error(about, 'deposit.found_on_chain');
  }
  if (outcome === 'misfit') log.error(about, 'deposit.transfer_unmatched');
}

/** A node that is behind the blocks compared earlier proves nothing. */
async function prove(
  { storage, log }: PaymentsContext,
  { transfers }: DepositService,
  { scan, end, everyS }: { scan: MoneyScan; end: FinalBlock; everyS: number },
): Promise<boolean> {
  if (end.number + 1n < scan.position) {
    log.warn('deposit.node_behind');
    return false;
  }
  const balanceU = await transfers.balanceAt(end.number);
  const expectedU = scan.provedBalanceU === null ? null : scan.provedBalanceU + scan.netU;
  if (balanceU !== null && expectedU !== null && balanceU !== expectedU) {
    log.error({ missing_u: String(balanceU - expectedU) }, 'deposit.scan_incomplete');
    await rewindScan(storage, scan);
    return false;
  }
  await proveScan(storage, scan, { balanceU, reachedAt: end.at, everyS });
  return true;
}
