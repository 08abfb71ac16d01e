import { LIMITS } from '@eloquentpoll/contracts';
import {
  addedSaid,
  EMPTY_SAID,
  evidenceOfRise,
  type StopFigures,
  soundState,
  stopFigures,
  TRIALS_OF_A_BLOCK,
} from '@eloquentpoll/evidence';
import type { Metrics } from '@eloquentpoll/ops';
import { readAuditMonths, readTrackRecords } from '@eloquentpoll/storage';
import { memoize } from '../http/cache.ts';
import { askingNow, WAYS_OF_ASKING } from '../polls/order/asking-now.ts';
import type { OperatorsContext } from './context.ts';

// Whether early stops keep their promise: the figures of /trust per panel as asked now, with and without web search.

interface PanelPromise extends StopFigures {
  panel: string;
  /** Mean of the evidence from delivered answers and the gate's replay; unlike a maximum, a mean is still evidence. */
  broken: number;
}

const FRESH_MS = 60_000;
const STALE_MS = 600_000;

export function promiseGauges(context: OperatorsContext, metrics: Metrics): void {
  const read = memoize<PanelPromise[]>({
    async load() {
      const promises = await readPromises(context);
      return () => promises;
    },
    freshMs: FRESH_MS,
    staleMs: STALE_MS,
  });
  const each = async (figure: (promise: PanelPromise) => number) =>
    (await read('')).value.map((promise) => [[promise.panel], figure(promise)] as const);
  metrics.reading('eloquentpoll_audited_stops', () => each(({ polls }) => polls));
  metrics.reading('eloquentpoll_audited_stops_wrong', () => each(({ wrong }) => wrong));
  metrics.reading('eloquentpoll_audited_stops_allowed', () => each(({ allowed }) => allowed));
  metrics.reading('eloquentpoll_audited_stops_said', () => each(({ said }) => said));
  metrics.reading('eloquentpoll_promise_evidence', async () =>
    (await read('')).value.flatMap(({ panel, evidenceKept, broken }) => [
      [[panel, 'kept'], evidenceKept] as const,
      [[panel, 'broken'], broken] as const,
    ]),
  );
}

async function readPromises(context: OperatorsContext): Promise<PanelPromise[]> {
  const { storage, panels } = context;
  const [months, records] = await Promise.all([
    readAuditMonths(storage, { simulated: panels.simulated }),
    readTrackRecords(storage),
  ]);
  return Promise.all(
    WAYS_OF_ASKING.map(async ({ panel_name, search, name: panel }) => {
      const { roster } = await askingNow(context, { panel_name, options: ['', ''], search });
      const own = months.filter((month) => month.roster.version === roster?.version);
      const figures = stopFigures(own.map(({ tally }) => tally).reduce(addedSaid, EMPTY_SAID));
      const stored = records.find((record) => record.roster.version === roster?.version);
      const state = stored && soundState(stored.state);
      const rises = state ? [state.few, state.many].map(riseOf) : [];
      return { ...figures, panel, broken: mean([figures.evidenceBroken, ...rises]) };
    }),
  );
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function riseOf({ stops, blocks }: NonNullable<ReturnType<typeof soundState>>['few']): number {
  const dropped = Math.ceil(stops.trials / TRIALS_OF_A_BLOCK) - blocks.length;
  return evidenceOfRise(1 - LIMITS.confidence_threshold.default, blocks, dropped);
}
