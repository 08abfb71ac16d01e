import { percentile } from '../../terminal/table.ts';
import type { CampaignHistory } from '../history.ts';
import type { Attempt, RecordedOperation } from '../operations.ts';
import { isUnknown } from '../request.ts';
import { canStrike } from './can-strike.ts';
import { type CampaignRule, label } from './rule.ts';

/** Of the median without a flood. */
const MAX_TIMES = 1.5;
/** So long after a fault a gateway may still say that it is out of service. */
const AFTER_MS = 10_000;

export const neighbourRules: readonly CampaignRule[] = [
  {
    name: `the median poll of a quiet account takes at most ${MAX_TIMES} times as long while another account floods`,
    broken(history) {
      const { flooded, calm } = quietTimes(history);
      const [beside, alone] = [flooded, calm].map((times) => percentile(times, 0.5));
      if (beside == null || alone == null) return [`${flooded.length} polls beside a flood, ${calm.length} without`];
      return beside > MAX_TIMES * alone ? [`${timesText(flooded)} beside a flood, ${timesText(calm)} without`] : [];
    },
  },
  {
    name: 'no quiet account is refused for the sake of the one that floods',
    broken: (history) => refusedBeside(history).map(({ operation, answer }) => refusalText(operation, answer)),
  },
  {
    // Without a queue and without refusals there was no flood.
    name: 'the account that floods sends more than it may',
    broken: (history) => (refusalsOfFlooder(history) > 0 ? [] : ['it was never refused']),
  },
];

type Neighbours = Pick<CampaignHistory, 'operations' | 'neighbours' | 'faults'>;

interface QuietPoll {
  operation: RecordedOperation;
  isFlooded: boolean;
}

interface QuietTimes {
  flooded: number[];
  calm: number[];
}

/**
 * Milliseconds from the first request to the first answer that is definite, with all retries in between. No poll is left
 * out, whatever delayed it; one without an answer took for ever.
 */
export function quietTimes(history: Pick<CampaignHistory, 'operations' | 'neighbours'>): QuietTimes {
  const times: QuietTimes = { flooded: [], calm: [] };
  for (const { operation, isFlooded } of quietPolls(history))
    times[isFlooded ? 'flooded' : 'calm'].push(tookMs(operation));
  return times;
}

/** The phase in which it was asked decides, not the one in which it is answered. */
function quietPolls({ operations, neighbours }: Pick<CampaignHistory, 'operations' | 'neighbours'>): QuietPoll[] {
  if (!neighbours) return [];
  const quiet = new Set(neighbours.quiet);
  return operations.flatMap((operation) => {
    const [first] = operation.attempts;
    if (!first || operation.account === null || !quiet.has(operation.account)) return [];
    const phase = neighbours.phases.find(({ from, until }) => first.asked >= from && first.asked <= until);
    return phase ? [{ operation, isFlooded: phase.isFlooded }] : [];
  });
}

function tookMs({ attempts }: RecordedOperation): number {
  const answer = attempts.find(({ status, code }) => status !== null && !isUnknown({ status, code }));
  return (answer?.answered ?? Number.POSITIVE_INFINITY) - attempts[0]!.asked;
}

interface Refused {
  operation: RecordedOperation;
  answer: Attempt;
}

const refusedBeside = (history: Neighbours): Refused[] =>
  quietPolls(history).flatMap(({ operation, isFlooded }) =>
    isFlooded
      ? operation.attempts
          .filter((answer) => isRefusal(answer, history.faults))
          .map((answer) => ({ operation, answer }))
      : [],
  );

/** By a limit, for lack of money, or because too little is left of what all accounts share. No fault excuses the first two. */
function isRefusal(answer: Attempt, faults: CampaignHistory['faults']): boolean {
  const { status, code } = answer;
  if (status !== 503) return status === 429 || status === 402;
  const isStruck = faults.some((fault) => canStrike({ ...fault, until: fault.until + AFTER_MS }, answer));
  return code !== 'service_unavailable' || !isStruck;
}

const refusalText = (operation: RecordedOperation, { status, code, gateway, asked }: Attempt): string =>
  `${label(operation)}: ${status} ${code} from ${gateway}, ${asked - operation.attempts[0]!.asked} ms after it was asked`;

const ofFlooder = ({ operations, neighbours }: Neighbours): RecordedOperation[] =>
  operations.filter(({ account }) => neighbours !== null && account === neighbours.flooder);

const refusalsOfFlooder = (history: Neighbours): number =>
  ofFlooder(history).flatMap(({ attempts }) => attempts.filter(({ status }) => status === 429)).length;

const secondsOf = (ms: number | null): string => (ms === null ? '-' : `${(ms / 1_000).toFixed(2)} s`);

const timesText = (times: readonly number[]): string =>
  `p50 ${secondsOf(percentile(times, 0.5))}, p95 ${secondsOf(percentile(times, 0.95))} of ${times.length}`;

/** Only for a campaign with phases. */
export function neighbourCounts(history: CampaignHistory): Record<string, number> {
  const { flooded, calm } = quietTimes(history);
  const without = percentile(calm, 0.5) ?? Number.POSITIVE_INFINITY;
  const longer = (times: readonly number[]) => times.filter((ms) => ms > MAX_TIMES * without).length;
  return {
    'polls of quiet accounts': flooded.length + calm.length,
    'of them beside a flood': flooded.length,
    'of these longer than 1.5 medians without it': longer(flooded),
    'without a flood, longer than 1.5 medians': longer(calm),
    'refusals of quiet accounts beside a flood': refusedBeside(history).length,
    'requests of the flooding account that were refused': refusalsOfFlooder(history),
    'polls of the flooding account': history.polls.filter(({ payerId }) => payerId === history.neighbours?.flooder)
      .length,
  };
}

/** Only for a campaign with phases. */
export function neighbourFigures(history: CampaignHistory): Record<string, string> {
  const { flooded, calm } = quietTimes(history);
  const ratio = (q: number) =>
    ((percentile(flooded, q) ?? Number.NaN) / (percentile(calm, q) ?? Number.NaN)).toFixed(2);
  return {
    'polls of quiet accounts beside a flood': timesText(flooded),
    'polls of quiet accounts without one': timesText(calm),
    'beside a flood to without one, p50': ratio(0.5),
    'beside a flood to without one, p95': ratio(0.95),
  };
}
