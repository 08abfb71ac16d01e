import type { Metrics } from './metrics.ts';
import { TimeoutError, withTimeout } from './with-timeout.ts';

// Whether the process should receive work. A check that does not answer in time fails. Checks that are not vital are
// only reported: an outage that affects all replicas but is tolerable must not take all of them out of service.

export interface ReadinessCheck {
  /** Null if all is well, else what is wrong, in words that may be shown. May throw. */
  ask(): string | null | Promise<string | null>;
  vital: boolean;
}

export interface Report {
  ready: boolean;
  /** By name. Null: all is well. */
  checks: Record<string, string | null>;
}

export interface Readiness {
  report(): Promise<Report>;
  /** Makes the process permanently not ready. */
  drain(): void;
}

const CHECK_TIMEOUT_MS = 1_000;
/** The stores are asked at most once in this time, however often the report is read. */
const MAX_AGE_MS = 500;

export function openReadiness(
  metrics: Metrics,
  checks: Record<string, ReadinessCheck>,
  now: () => number = () => performance.now(),
): Readiness {
  let draining = false;
  let latest: Promise<Record<string, string | null>> | null = null;
  let askedAt = Number.NEGATIVE_INFINITY;

  async function askAll(): Promise<Record<string, string | null>> {
    const names = Object.keys(checks);
    const answers = await Promise.all(names.map((name) => answerOf(checks[name]!)));
    return Object.fromEntries(names.map((name, i) => [name, answers[i] ?? null]));
  }

  async function report(): Promise<Report> {
    if (!latest || now() - askedAt >= MAX_AGE_MS) {
      askedAt = now();
      latest = askAll();
    }
    const answers = await latest;
    const well = Object.keys(checks).every((name) => answers[name] === null || !checks[name]!.vital);
    return {
      ready: well && !draining,
      checks: { ...answers, draining: draining ? 'the process is shutting down' : null },
    };
  }

  metrics.reading('eloquentpoll_ready', async () => ((await report()).ready ? 1 : 0));
  metrics.reading('eloquentpoll_ready_check', async () =>
    Object.entries((await report()).checks).map(([name, wrong]) => [[name], wrong === null ? 1 : 0] as const),
  );
  return {
    report,
    drain() {
      draining = true;
    },
  };
}

async function answerOf({ ask }: ReadinessCheck): Promise<string | null> {
  try {
    return await withTimeout(ask(), CHECK_TIMEOUT_MS);
  } catch (error) {
    // Other errors may contain a host or user name. They are in the log.
    return error instanceof TimeoutError ? error.message : 'does not answer';
  }
}
