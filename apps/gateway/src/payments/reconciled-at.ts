import { scanReachedAt } from '@eloquentpoll/storage';
import { movementsScan } from './card/compare-movements.ts';
import type { PaymentsContext } from './context.ts';
import { transfersScan } from './usdc/scan-transfers.ts';

/** Of the comparisons that the settings name. Those of other settings stay as they were left, and say nothing. */
export async function reconciledAt({ storage, config, deposits, processor }: PaymentsContext) {
  const scans = [
    ...(deposits ? [{ source: 'chain', name: transfersScan(deposits.settings) }] : []),
    ...(processor ? [{ source: 'card', name: movementsScan(config) }] : []),
  ];
  const reached = await Promise.all(
    scans.map(async ({ source, name }) => ({ source, at: await scanReachedAt(storage, name) })),
  );
  return reached.flatMap(({ source, at }) => (at ? [{ source, at }] : []));
}
