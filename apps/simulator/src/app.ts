import { type TypeBoxTypeProvider, TypeBoxValidatorCompiler } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyInstance } from 'fastify';
import { CallLog } from './call-log.ts';
import { chatRoutes } from './chat-routes.ts';
import { boundClosing } from './closing.ts';
import { controlRoutes } from './control.ts';
import { NamedCounts } from './counter.ts';
import { handleError, handleUnknownPath } from './errors.ts';
import { Exchanges } from './exchanges.ts';
import { cardPaymentRoutes } from './play-money/card-routes.ts';
import { chainRoutes } from './play-money/chain-routes.ts';
import { registryRoutes } from './registry.ts';
import { ScriptPlayer } from './script-player.ts';
import { LiveSettings, type SettingsOptions } from './settings.ts';

export type { Behaviour, Failure, RegistrySettings, Script, ScriptStep } from './behaviour.ts';
export type { LoggedCall } from './call-log.ts';
export { EXAMPLE_ANSWERS, type KnownAnswers } from './known-answers.ts';
export { parseRecordedVotes, type RecordedVotes } from './recorded-votes.ts';

// An OpenAI-compatible server with simulated models: seeded opinions, latencies, prices and failures, all configurable.
// All parts are wired here, and two simulators share nothing.

export interface SimulatorOptions extends SettingsOptions {
  /** How many calls the log keeps. Older ones are dropped. */
  callLogSize?: number;
  /** Further concurrent calls are rejected with 503. */
  maxInFlight?: number;
  /** How long regular answers may take to finish once the server closes. */
  drainMs?: number;
  logger?: boolean;
}

export interface SimulatorParts {
  settings: LiveSettings;
  calls: CallLog;
  exchanges: Exchanges;
  player: ScriptPlayer;
  latencyTurns: NamedCounts;
  registryCalls: { count: number; last_query: Record<string, unknown> | null };
  maxInFlight: number;
  votesLimitBytes: number;
}

const newApp = (logger: boolean) =>
  Fastify({ logger, bodyLimit: 1024 * 1024, forceCloseConnections: 'idle', routerOptions: { maxParamLength: 400 } })
    .setValidatorCompiler(TypeBoxValidatorCompiler)
    .withTypeProvider<TypeBoxTypeProvider>();

export type App = ReturnType<typeof newApp>;

/** The simulator without a listening socket. */
export function buildSimulator(options: SimulatorOptions = {}): FastifyInstance {
  const world: SimulatorParts = {
    settings: new LiveSettings(options),
    calls: new CallLog(options.callLogSize ?? 50_000),
    exchanges: new Exchanges(),
    player: new ScriptPlayer(),
    latencyTurns: new NamedCounts(),
    registryCalls: { count: 0, last_query: null },
    maxInFlight: options.maxInFlight ?? 10_000,
    votesLimitBytes: 16 * 1024 * 1024,
  };
  const app = newApp(options.logger ?? false);
  app.setErrorHandler(handleError);
  app.setNotFoundHandler(handleUnknownPath);
  boundClosing(app, world.exchanges, options.drainMs ?? 3000);
  app.get('/health', async () => ({ status: 'ok' }));
  chatRoutes(app, world);
  registryRoutes(app, world);
  chainRoutes(app);
  cardPaymentRoutes(app);
  controlRoutes(app, world);
  return app;
}
