import { randomBytes } from 'node:crypto';
import { failedTest, passesToReturn } from '@eloquentpoll/evidence';
import {
  CANARY_KINDS,
  CANARY_TEXT,
  type CanaryKind,
  canaryRequest,
  drawCanary,
  hasPassed,
} from '@eloquentpoll/models/canaries';
import { type Model, type Panels, seatsFor } from '@eloquentpoll/models/panels';
import { type Logger, type Metrics, repeat } from '@eloquentpoll/ops';
import { spendCeiling } from '@eloquentpoll/polls';
import {
  bringModelBack,
  type ClaimedCanary,
  claimCanary,
  finishCanary,
  readModelStanding,
  type SpendCeiling,
  type Storage,
  takeModelOut,
} from '@eloquentpoll/storage';
import type { Config } from './config.ts';
import type { OpenContext } from './context.ts';
import type { Ask } from './ports.ts';

// Asks each model a few questions with known answers per day. A model that fails is taken out of its panels in all
// gateways until it passes again. All workers share schedule, daily cap and results through Postgres.

const LOOK_EVERY_MS = 10_000;
const MAX_VOTE_MS = 45_000;
/** A model that was taken out is tested more often, so that it returns soon after it works again. */
const FAILED_FASTER = 6;
/** Maximum number of votes per test. */
const MAX_VOTES = 2;

export interface ModelTests {
  storage: Storage;
  panels: Panels;
  ask: Ask;
  metrics: Metrics;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Number of tests per model and day. */
  perDay: number;
  dayCapU: bigint;
  /** Tests wait while provider spend is above this. */
  ceiling?: SpendCeiling | undefined;
}

const DAY_MS = 86_400_000;
/** The default for real models. Simulated models are tested only if the setting says so. */
const USUAL_PER_DAY = 24;

/** Null if models are not tested. */
export function testModels(config: Config, { ask, log, resources }: OpenContext): AsyncDisposable | null {
  const { storage, panels, metrics } = resources;
  const perDay = config.canariesPerDay ?? (panels.simulated ? 0 : USUAL_PER_DAY);
  if (perDay === 0) return null;
  const ceiling = spendCeiling(config.providerSpend, panels.simulated, 'free');
  const limits = { perDay, dayCapU: config.canaryDayCapU, ceiling };
  const tests = { storage, panels, ask, metrics, log, ...limits };
  return repeat((signal) => testDueModel(tests, signal), {
    everyMs: LOOK_EVERY_MS,
    onError: (err) => log.warn({ err }, 'models.test_failed'),
  });
}

/** Tests the next model that is due, if any. */
export async function testDueModel(tests: ModelTests, signal: AbortSignal): Promise<void> {
  const { storage, panels, perDay, dayCapU, ceiling } = tests;
  const everyMs = Math.round(DAY_MS / perDay);
  const models = panels.models().map((model) => ({ modelId: model.id, maxU: callOf(model).maxU * BigInt(MAX_VOTES) }));
  const failedEveryMs = Math.round(everyMs / FAILED_FASTER);
  const claim = await claimCanary(storage, { models, everyMs, failedEveryMs, dayCapU, ceiling });
  if (!claim) return;
  const kind = claim.failed ?? CANARY_KINDS[claim.number % CANARY_KINDS.length]!;
  const { passed, costU } = await test(tests, claim, kind, signal);
  const { maxU } = models.find(({ modelId }) => modelId === claim.modelId)!;
  await finishCanary(storage, { ...claim, kind, passed, maxU, costU });
  if (passed === null) return;
  tests.metrics.counter('eloquentpoll_canaries_total', claim.modelId, kind, passed ? 'passed' : 'failed').n += 1;
  await judge(tests, claim.modelId);
}

async function test({ panels, ask }: ModelTests, claim: ClaimedCanary, kind: CanaryKind, signal: AbortSignal) {
  const model = panels.model(claim.modelId)!;
  const canary = drawCanary(kind, randomBytes(16).toString('hex'));
  const { call } = callOf(model);
  let costU = 0n;
  const votes: (number | null)[] = [];
  for (const seat of canary.seats) {
    const request = canaryRequest(canary, { modelId: model.id, seat, call });
    const vote = await ask(
      { ...request, pollId: `canary_${canary.seed.slice(0, 12)}`, deadlineMs: MAX_VOTE_MS },
      { signal, beforeCall: async () => !signal.aborted, isCurrent: () => !signal.aborted, onSpent() {} },
    );
    costU += BigInt(vote.cost?.max_u ?? 0);
    votes.push(vote.option);
    if (vote.option === null) break;
  }
  return { passed: hasPassed(canary, votes), costU };
}

async function judge({ storage, log }: ModelTests, modelId: string): Promise<void> {
  const standing = await readModelStanding(storage, modelId);
  if (!standing) return;
  const { failed, history, recentReturns } = standing;
  if (failed) {
    if (failed.passes >= passesToReturn(recentReturns) && (await bringModelBack(storage, modelId)))
      log.info({ model: modelId, test: failed.kind }, 'models.returned');
    return;
  }
  const kind = failedTest(history);
  if (kind && (await takeModelOut(storage, modelId, kind)))
    log.error({ model: modelId, test: kind }, 'models.taken_out');
}

/** The maximum and the typical cost of one vote of a test. */
function callOf(model: Model) {
  const panel = { name: 'fast' as const, order: 'shuffled' as const, why: '', models: [model], timeouts: {} };
  const [seat] = seatsFor(panel, CANARY_TEXT);
  return { call: { maxU: seat!.call_max_u!, typicalU: seat!.call_typical_u! }, maxU: BigInt(seat!.reserve_u) };
}
