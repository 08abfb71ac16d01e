import { randomBytes } from 'node:crypto';
import { type Bus, openBus } from '@eloquentpoll/bus';
import type { Ballot, PollSpec } from '@eloquentpoll/contracts';
import { openAsker } from '@eloquentpoll/models/ask';
import { ballotStyle, loadRosters } from '@eloquentpoll/models/rosters';
import { openStorage, type Storage } from '@eloquentpoll/storage';
import { type Logger, pino } from 'pino';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { type HedgeBudget, hedgeBudget } from './hedge-budget.ts';
import { keepLeases, type Leases } from './leases.ts';

export interface Asking {
  pollId: string;
  spec: PollSpec;
  seat: number;
  timeLeftMs: number;
  signal: AbortSignal;
}

/** Everything with a connection or a lifetime, made in one place; tests and simulations override parts of it. */
export interface Context extends AsyncDisposable {
  workerId: string;
  storage: Storage;
  bus: Bus;
  ask(asking: Asking): Promise<Ballot>;
  leases: Leases;
  hedges: HedgeBudget;
  clock: Clock;
  log: Logger;
}

export async function openContext(config: Config, overrides: Partial<Context> = {}): Promise<Context> {
  await using opened = new AsyncDisposableStack();
  const log = overrides.log ?? pino({ level: config.logLevel, base: { app: 'worker' } });
  const clock = overrides.clock ?? systemClock;
  const workerId = overrides.workerId ?? `w_${randomBytes(8).toString('hex')}`;
  const storage =
    overrides.storage ??
    opened.use(openStorage({ databaseUrl: config.databaseUrl, applicationName: 'eloquentpoll-worker' }));
  const bus =
    overrides.bus ??
    opened.use(
      await openBus({
        redisUrl: config.redisUrl,
        prefix: config.redisPrefix,
        onError: (err) => log.warn({ err }, 'Redis'),
      }),
    );
  const ask = overrides.ask ?? askModels(opened, config, bus, log);
  const leases =
    overrides.leases ?? keepLeases(storage, workerId, clock, (err) => log.warn({ err }, 'leases not renewed'));
  opened.defer(() => leases.stop());
  const owned = opened.move();
  return {
    workerId,
    storage,
    bus,
    ask,
    leases,
    hedges: overrides.hedges ?? hedgeBudget(),
    clock,
    log,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function askModels(opened: AsyncDisposableStack, config: Config, bus: Bus, log: Logger): Context['ask'] {
  const rosters = loadRosters({ file: config.modelsFile, baseUrl: config.modelsBaseUrl });
  const apiKeys = Object.fromEntries(
    rosters.providers().map(({ name, apiKeyEnv }) => [name, apiKeyEnv ? config.providerKey(apiKeyEnv) : undefined]),
  );
  const onError = (err: unknown): void => log.warn({ err }, 'models');
  const asker = opened.use(openAsker({ rosters, apiKeys, redis: bus.redis, prefix: bus.prefix, onError }));
  return async ({ pollId, spec, seat, timeLeftMs, signal }) => {
    const { model_id, reserve_u } = spec.seats[seat]!;
    const answer = await asker.ask(
      {
        modelId: model_id,
        question: spec.question,
        options: spec.options,
        seat,
        pollId,
        seed: spec.seed,
        style: ballotStyle(spec.roster_name),
        search: spec.search,
        deadlineMs: timeLeftMs,
        reserveU: reserve_u,
        roster: spec.roster_name,
      },
      signal,
    );
    return { ...answer, seat };
  };
}
