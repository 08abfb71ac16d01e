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
import type { FinalBlock } from './token-node.ts';

// Compares every transfer to us with the deposits, block range by block range, up to the newest final block, and then
// what came and went with our balance there: a node that leaves events out does not add up.

/** On Base half an hour: an authorization may have been used before its proof reached us. */
const BLOCKS_BEFORE = 1_000n;

export async function scanTransfers(
  context: PaymentsContext,
  deposits: DepositService,
  signal: AbortSignal,
): Promise<void> {
  const { storage, config } = context;
  const { settings, transfers } = deposits;
  const name = `chain ${settings.chainId} ${settings.asset} ${settings.payTo}`;
  const start = async () => {
    const [asset, payTo] = [hexBytes(settings.asset), hexBytes(settings.payTo)];
    const first = await firstDepositBlock(storage, { chainId: settings.chainId, asset, payTo });
    if (first === null) return (await requireFinal(deposits)).number + 1n;
    return first > BLOCKS_BEFORE ? first - BLOCKS_BEFORE : 0n;
  };
  let scan = await claimScan(storage, name, start);
  if (!scan) return;
  const end = await requireFinal(deposits);
  while (scan.position <= end.number) {
    if (signal.aborted) return;
    const last: bigint = scan.position + BigInt(settings.logRange) - 1n;
    const to = last < end.number ? last : end.number;
    const { incoming, netU } = await transfers.between(scan.position, to);
    for (const transfer of incoming) await match(context, transfer);
    scan = await advanceScan(storage, scan, { position: to + 1n, netU: scan.netU + netU });
    if (!scan) return;
  }
  await prove(context, deposits, { scan, end, everyS: config.reconcile.transfersS });
}

const hexBytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');

async function requireFinal({ transfers }: DepositService): Promise<FinalBlock> {
  const block = await transfers.final();
  if (!block) throw new Error('the node has no final block');
  return block;
}

async function match({ storage, log, money }: PaymentsContext, transfer: IncomingTransfer): Promise<void> {
  const outcome = await matchTransfer(storage, transfer);
  const about = { tx_hash: `0x${transfer.txHash.toString('hex')}`, amount_u: String(transfer.amountU) };
  if (outcome === 'credited') {
    money.deposit('credited_later', transfer.amountU);
    log.error(about, 'deposit.found_on_chain');
  }
  if (outcome === 'misfit') log.error(about, 'deposit.transfer_unmatched');
}

/** A node that is behind what was compared before proves nothing. */
async function prove(
  { storage, log }: PaymentsContext,
  { transfers }: DepositService,
  { scan, end, everyS }: { scan: MoneyScan; end: FinalBlock; everyS: number },
): Promise<void> {
  if (end.number + 1n < scan.position) return log.warn('deposit.node_behind');
  const balanceU = await transfers.balanceAt(end.number);
  const expectedU = scan.provedBalanceU === null ? null : scan.provedBalanceU + scan.netU;
  if (balanceU !== null && expectedU !== null && balanceU !== expectedU) {
    log.error({ missing_u: String(balanceU - expectedU) }, 'deposit.scan_incomplete');
    return rewindScan(storage, scan);
  }
  await proveScan(storage, scan, { balanceU, reachedAt: end.at, everyS });
}
