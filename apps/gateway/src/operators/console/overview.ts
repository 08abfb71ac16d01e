import type { QueueCounts } from '@eloquentpoll/bus';
import {
  type BuriedPoll,
  buriedPolls,
  type CallerFailures,
  type Controls,
  type FailedPoll,
  type FleetFigures,
  failedPolls,
  failuresByCaller,
  type LoggedAct,
  type Misfit,
  openMisfits,
  type RunningPoll,
  readControls,
  readFleetFigures,
  readOperatorLog,
  runningPolls,
} from '@eloquentpoll/storage';
import type { OperatorsContext } from '../context.ts';

// The console's overview. A part is null when its store does not answer. It contains no question or option.

const MAX_ROWS = 50;
const MAX_CALLERS = 10;

interface QueueOverview {
  waiting: number;
  active: number;
  oldestSeconds: number | null;
}

export interface Overview {
  queue: QueueOverview | null;
  /** The queue of flex polls, which may wait. */
  flexQueue: QueueOverview | null;
  fleet: FleetFigures | null;
  running: RunningPoll[] | null;
  buried: Omit<BuriedPoll, 'spec' | 'accountId'>[] | null;
  failed: FailedPoll[] | null;
  controls: Controls | null;
  /** With what an operator needs to find the money: transaction, payer, payment, account. */
  misfits: Misfit[] | null;
  /** Callers whose questions cause failed calls today. */
  callers: CallerFailures[] | null;
  log: LoggedAct[] | null;
}

export async function overview({ storage, bus, log }: OperatorsContext): Promise<Overview> {
  const orNull = <T>(part: string, read: Promise<T>): Promise<T | null> =>
    read.catch((error: unknown) => {
      log.warn({ err: error, part }, 'console.read_failed');
      return null;
    });
  const [queue, flexQueue, fleet, running, buried, failed, controls, misfits, callers, acts] = await Promise.all([
    orNull('queue', bus.queueCounts('standard')),
    orNull('flex queue', bus.queueCounts('flex')),
    orNull('fleet', readFleetFigures(storage)),
    orNull('running', runningPolls(storage, MAX_ROWS)),
    orNull('buried', buriedPolls(storage, MAX_ROWS)),
    orNull('failed', failedPolls(storage, MAX_ROWS)),
    orNull('controls', readControls(storage)),
    orNull('misfits', openMisfits(storage, MAX_ROWS)),
    orNull('callers', failuresByCaller(storage, MAX_CALLERS)),
    orNull('log', readOperatorLog(storage, MAX_ROWS)),
  ]);
  return {
    queue: queue && queueOverview(queue),
    flexQueue: flexQueue && queueOverview(flexQueue),
    fleet,
    running,
    buried: buried?.map(({ spec: _spec, accountId: _account, ...rest }) => rest) ?? null,
    failed,
    controls,
    misfits,
    callers,
    log: acts,
  };
}

const queueOverview = ({ waiting, active, oldestAt }: QueueCounts): QueueOverview => ({
  waiting,
  active,
  oldestSeconds: oldestAt === null ? null : Math.max(0, Math.round((Date.now() - oldestAt) / 1_000)),
});

/** Writes bigint (money, row ids) as strings, because JSON numbers are not exact. */
export const toExactJson = (content: object): string =>
  JSON.stringify(content, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
