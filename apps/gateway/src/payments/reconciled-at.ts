import { scanReachedAt } from '@eloquentpoll/storage';
import { movementsScan } from './card/compare-movements.ts';
import type { PaymentsContext } from './context.ts';
import { transfersScan } from './usdc/scan-transfers.ts';

/** Used for the seconds until the first attempt of a comparison, which leaves its time in Postgres. */
const STARTED_AT = new Date();

/** Times of the comparisons under the current settings; those of earlier settings are ignored. */
export async function reconciledAt({ storage, config, deposits, processor }: PaymentsContext) {
  const scans = [
    ...(deposits ? [{ source: 'chain', name: transfersScan(deposits.settings) }] : []),
    ...(processor ? [{ source: 'card', name: movementsScan(config) }] : []),
  ];
  return Promise.all(
    scans.map(async ({ source, name }) => ({ source, at: (await scanReachedAt(storage, name)) ?? STARTED_AT })),
  );
}
