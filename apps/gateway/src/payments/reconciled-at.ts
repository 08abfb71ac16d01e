import { scanReachedAt } from '@eloquentpoll/storage';
import { movementsScan } from './card/compare-movements.ts';
import type { PaymentsContext } from './context.ts';
import { transfersScan } from './usdc/scan-transfers.ts';

/** Of a comparison that has not begun, such as where the chain's node cannot be asked. */
const STARTED_AT = new Date();

/** Of the comparisons that the settings name. Those of other settings stay as they were left, and say nothing. */
export async function reconciledAt({ storage, config, deposits, processor }: PaymentsContext) {
  const scans = [
    ...(deposits ? [{ source: 'chain', name: transfersScan(deposits.settings) }] : []),
    ...(processor ? [{ source: 'card', name: movementsScan(config) }] : []),
  ];
  return Promise.all(
    scans.map(async ({ source, name }) => ({ source, at: (await scanReachedAt(storage, name)) ?? STARTED_AT })),
  );
}
