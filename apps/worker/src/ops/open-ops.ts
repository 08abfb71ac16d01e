import {
  clockFigure,
  type FleetSource,
  fleetFigures,
  openOpsPort,
  openReadiness,
  poolFigures,
  processFigures,
  type Readiness,
  watchLoop,
} from '@eloquentpoll/ops';
import { findPoll, readFailedModels, readFleetFigures, readMoneyFigures, storageTime } from '@eloquentpoll/storage';
import packageJson from '../../package.json' with { type: 'json' };
import type { Config } from '../config.ts';
import type { OpenContext } from '../context.ts';
import type { Serving } from '../serve-polls.ts';
import { type LivenessLimits, livenessCheck } from './liveness.ts';
import { webhookFigures } from './webhook-figures.ts';

// The worker's ops port. A worker can do nothing without Postgres or Redis, so each check is vital.

export interface Ops extends AsyncDisposable {
  readonly url: string;
  readonly readiness: Readiness;
  /** From here on the worker takes jobs. */
  began(serving: Pick<Serving, 'flexAllowed'>): void;
}

/** Null if OPS_PORT is not set. */
export async function openOps(config: Config, context: OpenContext, limits?: LivenessLimits): Promise<Ops | null> {
  if (!config.ops) return null;
  const { metrics, storage, redis, models, panels, activity } = context.resources;
  await using made = new AsyncDisposableStack();
  const loop = made.use(watchLoop());
  made.use(processFigures(metrics, { version: packageJson.version, commit: config.gitCommit }));
  clockFigure(metrics, () => storageTime(storage));
  poolFigures(metrics, storage.pool, config.databasePool);
  const sources: FleetSource = {
    queue: async () => {
      const [standard, flex] = await Promise.all([redis.queueCounts('standard'), redis.queueCounts('flex')]);
      return { standard, flex };
    },
    store: () => readFleetFigures(storage),
    money: () => readMoneyFigures(storage),
  };
  const fleet = fleetFigures(metrics, sources);
  webhookFigures(metrics, storage);
  metrics.reading('eloquentpoll_polls_running', () => [
    [['standard'], activity.standard.running],
    [['flex'], activity.flex.running],
  ]);
  metrics.reading('eloquentpoll_worker_slots', () => [
    [['standard'], config.concurrency],
    [['flex'], config.flex.concurrency],
  ]);
  let serving: Pick<Serving, 'flexAllowed'> | null = null;
  metrics.reading('eloquentpoll_flex_allowed', () => serving?.flexAllowed ?? 0);
  metrics.reading('eloquentpoll_breaker_open', async () =>
    [...(await models.snapshot())].map(([model, { failing }]) => [[model], failing ? 1 : 0] as const),
  );
  metrics.reading('eloquentpoll_models_taken_out', async () => {
    const failed = new Set((await readFailedModels(storage)).map(({ modelId }) => modelId));
    return panels.models().map(({ id }) => [[id], failed.has(id) ? 1 : 0] as const);
  });
  const readiness = openReadiness(metrics, {
    consuming: { vital: true, ask: () => (serving ? null : 'takes no jobs yet') },
    postgres: {
      vital: true,
      async ask() {
        // By primary key, for a poll that does not exist: figures of the fleet may be slow while polls can be run.
        await findPoll(storage, 'ps_ready');
        return null;
      },
    },
    redis: {
      vital: true,
      async ask() {
        // While one master of a cluster is down, polls on the other masters continue.
        await redis.ping();
        return null;
      },
    },
    event_loop: loop,
    liveness: livenessCheck(activity.standard, {
      // With this many slots taken, a worker does all that it can for a single tenant.
      slots: config.concurrency - config.reserved,
      oldestAt: async () => (await fleet.queue()).standard.oldestAt,
      ...(limits && { limits }),
    }),
  });
  const port = made.use(
    await openOpsPort({
      ...{ ...config.ops, metrics, readiness },
      onFailure: (err, path) => context.log.error({ err, path }, 'ops.page_failed'),
    }),
  );
  const owned = made.move();
  return {
    url: port.url,
    readiness,
    began(consumers) {
      serving = consumers;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
