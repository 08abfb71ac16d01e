import type { Bus } from '@eloquentpoll/bus';
import type { Logger } from '../../config/log.ts';

// Estimates when a poll that is accepted now would start: the jobs ahead of it, by its rank among its tenant's waiting
// polls, divided by the rate at which the fleet ends polls. A poll that could not start in time is refused.

export interface QueueOutlook {
  /** How many polls of the tenant may wait ahead of one that must start within this time; undefined: any number. */
  maxWaiting(startWithinMs: number): number | undefined;
  /** How long a poll behind that many waiting polls of its tenant would wait. */
  waitMs(waiting: number): number;
}

interface Look {
  /** Waiting times in milliseconds, one per entry of RANKS. */
  waits: number[];
  active: number;
  at: number;
}

const RANKS = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024] as const;
const LOOK_EVERY_MS = 250;
/** An older measurement is ignored. */
const MAX_AGE_MS = 5_000;
/** While the number of running polls grows faster than this, the measured rate is too low to refuse polls by it. */
const STARTING = 1.2;

interface Sources {
  bus: Pick<Bus, 'queueBacklog'>;
  /** The mean duration of polls at present; null when unknown. */
  meanMs: () => Promise<number | null>;
  log: Pick<Logger, 'warn'>;
  now?: () => number;
}

export function queueOutlook({ bus, meanMs, log, now = () => performance.now() }: Sources): QueueOutlook {
  let newest: Look | null = null;
  let askedAt = Number.NEGATIVE_INFINITY;

  async function look(): Promise<void> {
    const { before, active } = await bus.queueBacklog(RANKS);
    const last = newest;
    const at = now();
    const isSteady = last !== null && at - last.at <= MAX_AGE_MS && active <= last.active * STARTING;
    const mean = isSteady && active > 0 && before.at(-1)! > 0 ? await meanMs() : null;
    newest = { waits: before.map((jobs) => (mean === null ? 0 : (jobs * mean) / active)), active, at };
  }

  /** Answers from the last measurement and starts a new one in the background. */
  function waits(): readonly number[] {
    if (now() - askedAt >= LOOK_EVERY_MS) {
      askedAt = now();
      look().catch((err) => log.warn({ err }, 'queue.outlook_failed'));
    }
    return newest && now() - newest.at <= MAX_AGE_MS ? newest.waits : [];
  }

  return {
    maxWaiting(startWithinMs) {
      const ms = waits();
      const late = ms.findIndex((each) => each > startWithinMs);
      if (late < 0) return undefined;
      if (late === 0) return -1;
      const [from, to] = [RANKS[late - 1]!, RANKS[late]!];
      const share = (startWithinMs - ms[late - 1]!) / (ms[late]! - ms[late - 1]!);
      return Math.min(to - 1, Math.floor(from + share * (to - from)));
    },
    waitMs(waiting) {
      const rank = RANKS.findIndex((each) => each >= waiting);
      return waits().at(rank) ?? 0;
    },
  };
}
