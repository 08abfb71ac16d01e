import { randomBytes } from 'node:crypto';
import { type Bus, openBus } from '@eloquentpoll/bus';
import { openAsker } from '@eloquentpoll/models/ask';
import { ballotStyle, loadRosters } from '@eloquentpoll/models/rosters';
import { openStorage } from '@eloquentpoll/storage';
import { type Logger, pino } from 'pino';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { type HedgeBudget, hedgeBudget } from './hedge-budget.ts';
import { keepLeases, type Leases } from './leases.ts';
import type { Ask, PollBus, PollStore } from './ports.ts';
import { storedPolls } from './stored-polls.ts';

/** All that a worker has of the outside world, time and chance included: whoever gives it another one runs the same code. */
export interface Context extends AsyncDisposable {
  workerId: string;
  polls: PollStore;
  bus: PollBus;
  ask: Ask;
  leases: Leases;
  hedges: HedgeBudget;
  clock: Clock;
  /** In [0, 1). */
  random(): number;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

export async function openContext(config: Config): Promise<Context> {
  await using opened = new AsyncDisposableStack();
  const log = pino({ level: config.logLevel, base: { app: 'worker' } });
  const workerId = `w_${randomBytes(8).toString('hex')}`;
  const storage = opened.use(openStorage({ databaseUrl: config.databaseUrl, applicationName: 'eloquentpoll-worker' }));
  const polls = storedPolls(storage);
  const bus = opened.use(
    await openBus({
      redisUrl: config.redisUrl,
      prefix: config.redisPrefix,
      onError: (err) => log.warn({ err }, 'Redis'),
    }),
  );
  const ask = askModels(opened, config, bus, log);
  const leases = keepLeases(polls, workerId, systemClock, (err) => log.warn({ err }, 'leases not renewed'));
  opened.defer(() => leases.stop());
  const owned = opened.move();
  return {
    workerId,
    polls,
    bus,
    ask,
    leases,
    hedges: hedgeBudget(),
    clock: systemClock,
    random: Math.random,
    log,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function askModels(opened: AsyncDisposableStack, config: Config, bus: Bus, log: Logger): Ask {
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
