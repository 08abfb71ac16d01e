import type { Metrics } from './metrics.ts';

// Whether work should come here. Each check answers within its time or has failed; what fails is named, in words that
// may be shown. A check that is not vital is reported and decides nothing: what all replicas lose at the same time, and
// can do without, must not take all of them out of service. Whoever drains is not ready, from the first moment on.

export interface Check {
  /** Null when all is well, else what is wrong. What it throws is wrong too. */
  ask(): string | null | Promise<string | null>;
  vital: boolean;
}

export interface Report {
  ready: boolean;
  /** By name; null where all is well. */
  checks: Record<string, string | null>;
}

export interface Readiness {
  report(): Promise<Report>;
  /** Not ready any more, for good. */
  drain(): void;
}

const PATIENCE_MS = 1_000;
/** However many ask, the stores are asked once in this time. */
const KEPT_MS = 500;

export function openReadiness(
  metrics: Metrics,
  checks: Record<string, Check>,
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
    if (!latest || now() - askedAt >= KEPT_MS) {
      askedAt = now();
      latest = askAll();
    }
    const answers = await latest;
    const well = Object.keys(checks).every((name) => answers[name] === null || !checks[name]!.vital);
    return { ready: well && !draining, checks: { ...answers, draining: draining ? 'the process is leaving' : null } };
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

async function answerOf({ ask }: Check): Promise<string | null> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(late.resolve, PATIENCE_MS, `no answer within ${PATIENCE_MS} ms`);
  try {
    return await Promise.race([ask(), late.promise]);
  } catch {
    // The error may name a host or a user; the log has it.
    return 'does not answer';
  } finally {
    clearTimeout(timer);
  }
}
