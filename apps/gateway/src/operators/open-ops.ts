import { FREE_PRESETS, PRESETS } from '@eloquentpoll/contracts';
import {
  clockFigure,
  type FleetSource,
  fleetFigures,
  type OpsPort,
  openOpsPort,
  openReadiness,
  poolFigures,
  processFigures,
  type Readiness,
  watchLoop,
} from '@eloquentpoll/ops';
import { SettingError } from '@eloquentpoll/ops/settings';
import { spendCeiling } from '@eloquentpoll/polls';
import { findPoll, type Replica, readFleetFigures, readMoneyFigures, storageTime } from '@eloquentpoll/storage';
import type { FastifyInstance } from 'fastify';
import packageJson from '../../package.json' with { type: 'json' };
import { READ_FROM } from '../http/lagging-reads.ts';
import { reconciledAt } from '../payments/reconciled-at.ts';
import { REFUSALS } from '../polls/run/refusals.ts';
import { consoleHandler } from './console/handler.ts';
import type { OperatorsContext } from './context.ts';
import { panelGates } from './panel-gates.ts';
import { promiseGauges } from './promise-gauges.ts';

// The gateway's ops port. Without Postgres the gateway is not ready. Without Redis it stays ready: it works, but slower
// and with tighter limits, and otherwise all gateways would stop being ready at the same time.

export interface Ops extends AsyncDisposable {
  readonly url: string;
  readonly readiness: Readiness;
}

/** The part of the app that probes read. */
type Listening = Pick<FastifyInstance, 'server'>;

/** Null when OPS_PORT is not set. */
export async function openOps(context: OperatorsContext, app: Listening): Promise<Ops | null> {
  const { config, metrics, storage, lists, bus, streams } = context;
  if (!config.ops) return null;
  await using made = new AsyncDisposableStack();
  const loop = made.use(watchLoop());
  made.use(processFigures(metrics, { version: packageJson.version, commit: config.gitCommit }));
  clockFigure(metrics, () => storageTime(storage));
  poolFigures(metrics, storage.pool, config.database.maxConnections);
  fleetFigures(metrics, fleetOf(context));
  for (const panel of [...PRESETS, ...FREE_PRESETS]) metrics.counter('eloquentpoll_polls_accepted_total', panel);
  panelGates(context, metrics);
  promiseGauges(context, metrics);
  // Created at startup, so that the first event shows as an increase.
  for (const reason of REFUSALS) metrics.counter('eloquentpoll_polls_refused_total', reason);
  metrics.reading('eloquentpoll_provider_spend_ceiling_usd', () => ceilings(context));
  metrics.reading('eloquentpoll_part_configured', () => partsOf(context));
  metrics.reading('eloquentpoll_sse_streams', () => streams.count());
  metrics.reading('eloquentpoll_sse_streams_blocked', () => streams.blocked());
  metrics.reading('eloquentpoll_polls_watched', () => bus.watched());
  metrics.reading('eloquentpoll_http_connections', () => connectionsOf(app));
  metrics.reading('eloquentpoll_money_reconciled_timestamp_seconds', async () =>
    (await reconciledAt(context)).map(({ source, at }) => [[source], at.getTime() / 1_000] as const),
  );
  metrics.reading('eloquentpoll_reconciliation_interval_seconds', () => reconciliationIntervals(context));
  const { replica } = lists;
  metrics.reading('eloquentpoll_replica_lag_seconds', () => secondsBehind(replica));
  for (const answered of READ_FROM) metrics.counter('eloquentpoll_lagging_reads_total', answered);
  const readiness = openReadiness(metrics, {
    postgres: {
      vital: true,
      async ask() {
        // A query of the polls table by primary key, for a poll that does not exist.
        await findPoll(storage, 'ps_ready');
        return null;
      },
    },
    redis: {
      vital: false,
      async ask() {
        const { masters, away } = await bus.ping();
        return away === 0 ? null : `${away} of ${masters} masters do not answer`;
      },
    },
    // Not vital: the primary answers instead.
    ...(replica && {
      replica: { vital: false, ask: () => (replica.state === 'used' ? null : `is not used: ${replica.state}`) },
    }),
    event_loop: loop,
    listening: { vital: true, ask: () => (app.server.listening ? null : 'does not listen') },
  });
  const handler = config.adminToken === null ? null : consoleHandler(context, config.adminToken);
  const port = made.use(
    await listen({
      ...{ ...config.ops, metrics, readiness, handler },
      onFailure: (err, path) => context.log.error({ err, path }, 'ops.page_failed'),
    }),
  );
  const keep = made.move();
  return { url: port.url, readiness, [Symbol.asyncDispose]: () => keep.disposeAsync() };
}

const secondsBehind = (replica: Replica | null): number | null => {
  const lagMs = replica ? replica.lagMs() : 0;
  return lagMs === null ? null : lagMs / 1_000;
};

/** Parts that are off without their settings, and then answer `not_configured`. */
const partsOf = ({ processor, deposits, identityProvider, receipts, webhooks }: OperatorsContext) =>
  Object.entries({ cards: processor, usdc: deposits, logins: identityProvider, receipts, webhooks }).map(
    ([part, its]) => [[part], its ? 1 : 0] as const,
  );

function reconciliationIntervals({ processor, deposits, config: { reconcile } }: OperatorsContext) {
  return [
    ...(processor ? [[['checkouts'], reconcile.checkoutsS] as const] : []),
    ...(deposits ? [[['deposits'], reconcile.depositsS] as const] : []),
  ];
}

const fleetOf = ({ bus, storage }: OperatorsContext): FleetSource => ({
  queue: async () => {
    const [standard, flex] = await Promise.all([bus.queueCounts('standard'), bus.queueCounts('flex')]);
    return { standard, flex };
  },
  store: () => readFleetFigures(storage),
  money: () => readMoneyFigures(storage),
});

const connectionsOf = ({ server }: Listening): Promise<number> =>
  new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });

async function listen(options: Parameters<typeof openOpsPort>[0]): Promise<OpsPort> {
  try {
    return await openOpsPort(options);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no reason given';
    throw new SettingError('OPS_PORT', `${options.host}:${options.port} cannot be listened on (${code})`);
  }
}

function ceilings(context: OperatorsContext) {
  return (['free', 'all'] as const).flatMap((polls) => {
    const { hourU, dayU } = spendCeiling(context.config.providerSpend, context.panels.simulated, polls) ?? {};
    return hourU === undefined || dayU === undefined
      ? []
      : [[['hour', polls], Number(hourU) / 1e6] as const, [['day', polls], Number(dayU) / 1e6] as const];
  });
}
