import { LIMITS, type PublishedCalibration } from '@eloquentpoll/contracts';
import { type ModelEvidence, newestModelEvidence, readAuditMonths, readTrackRecords } from '@eloquentpoll/storage';
import { type Entry, type Lifetime, memoize } from '../http/cache.ts';
import { askingNow, WAYS_OF_ASKING } from '../polls/order/asking-now.ts';
import { calibrationCsv } from './calibration-csv.ts';
import { accuracyOf, agreementOf, figuresOf, grouped, versionsOf } from './calibration-figures.ts';
import type { DiscoveryContext } from './context.ts';
import type { CountedWindow, Reputations } from './reputations.ts';

// Stated confidence compared with how often it proved right, read at most every five minutes. Workers maintain the
// sums, so a read is fast however many polls were audited. While the database does not answer, the last read is served.

const FRESH_MS = 300_000;
const STALE_MS = 3_600_000;

export interface CalibrationSnapshot {
  calibration: PublishedCalibration;
  /** The period that the feedback covers. */
  window: CountedWindow;
  /** By model; empty until there are enough votes. */
  reliabilities: ModelEvidence['reliabilities'];
  /** Response bodies. */
  json: string;
  csv: string;
}

export type Calibrations = () => Promise<Entry<CalibrationSnapshot>>;

type Parts = Pick<DiscoveryContext, 'storage' | 'lists' | 'panels' | 'modelsOut' | 'trackRecords' | 'config'>;

export function calibrations(parts: Parts, reputations: Reputations, now: () => number = Date.now): Calibrations {
  const load = () => take(parts, reputations);
  const snapshot = memoize<CalibrationSnapshot>({ load, freshMs: FRESH_MS, staleMs: STALE_MS, now });
  return () => snapshot('');
}

async function take(parts: Parts, reputations: Reputations): Promise<(lifetime: Lifetime) => CalibrationSnapshot> {
  const { storage, lists, panels } = parts;
  const { simulated } = panels;
  const { feedback, window } = (await reputations()).value;
  const [months, records, evidence, current] = await Promise.all([
    lists.ofAll((queries) => readAuditMonths(queries, { simulated })),
    readTrackRecords(storage),
    newestModelEvidence(storage, simulated),
    currentVersions(parts),
  ]);
  const threshold = LIMITS.confidence_threshold.default;
  const figures = {
    ...{ simulated, confidence_threshold: threshold, since: months.at(-1)?.month ?? null },
    ...figuresOf(months),
    presets: named(
      'preset',
      grouped(months, ({ roster }) => roster.panelName),
    ) as PublishedCalibration['presets'],
    orders: named(
      'order',
      grouped(months, ({ askedOrder }) => askedOrder),
    ),
    months: named(
      'month',
      grouped(months, ({ month }) => month),
    ),
    versions: versionsOf(months, { records, current, promise: 1 - threshold }),
    agreement: agreementOf(evidence, panels),
    accuracy: [accuracyOf(feedback, window)],
  };
  return ({ loadedAt, expiresAt }) => {
    const times = { generated_at: loadedAt.toISOString(), cache_expires_at: expiresAt.toISOString() };
    const calibration: PublishedCalibration = { ...figures, ...times };
    return {
      calibration,
      window,
      reliabilities: evidence?.reliabilities ?? {},
      json: JSON.stringify(calibration),
      csv: calibrationCsv(calibration),
    };
  };
}

const named = <K extends string, G extends { group: string }>(name: K, groups: readonly G[]) =>
  groups.map(({ group, ...figures }) => ({ [name]: group as G['group'], ...figures })) as (Omit<G, 'group'> &
    Record<K, G['group']>)[];

/** The roster versions that polls use if they are accepted now. */
async function currentVersions(parts: Parts): Promise<Set<string>> {
  const asking = await Promise.all(
    WAYS_OF_ASKING.map(({ panel_name, search }) => askingNow(parts, { panel_name, options: ['', ''], search })),
  );
  return new Set(asking.flatMap(({ roster }) => (roster === null ? [] : [roster.version])));
}
