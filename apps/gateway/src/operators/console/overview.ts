import {
  type BuriedPoll,
  buriedPolls,
  type FailedPoll,
  type FleetFigures,
  failedPolls,
  fleetFigures,
  type RunningPoll,
  runningPolls,
} from '@eloquentpoll/storage';
import type { OperatorsContext } from '../context.ts';

// What an operator wants to know first, read when asked. A part whose store does not answer is null, and the rest is
// shown all the same. No question, no option and no account is in it.

const MOST = 50;

export interface Overview {
  queue: { waiting: number; active: number; oldestSeconds: number | null } | null;
  fleet: FleetFigures | null;
  running: RunningPoll[] | null;
  buried: Omit<BuriedPoll, 'spec' | 'accountId'>[] | null;
  failed: FailedPoll[] | null;
}

export async function overview({ storage, bus, log }: OperatorsContext): Promise<Overview> {
  const orNull = <T>(what: string, asked: Promise<T>): Promise<T | null> =>
    asked.catch((error: unknown) => {
      log.warn({ err: error, what }, 'admin view not complete');
      return null;
    });
  const [queue, fleet, running, buried, failed] = await Promise.all([
    orNull('queue', bus.queueCounts()),
    orNull('fleet', fleetFigures(storage)),
    orNull('running', runningPolls(storage, MOST)),
    orNull('buried', buriedPolls(storage, MOST)),
    orNull('failed', failedPolls(storage, MOST)),
  ]);
  return {
    queue: queue && {
      waiting: queue.waiting,
      active: queue.active,
      oldestSeconds: queue.oldestAt === null ? null : Math.max(0, Math.round((Date.now() - queue.oldestAt) / 1_000)),
    },
    fleet,
    running,
    buried: buried?.map(({ spec: _spec, accountId: _account, ...rest }) => rest) ?? null,
    failed,
  };
}

/** Money and row ids are beyond what a JSON number holds exactly, so they go as texts. */
export const overviewJson = (shown: Overview): string =>
  JSON.stringify(shown, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
