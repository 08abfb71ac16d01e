import type { FuzzedOperation } from '../operations.ts';
import type { Draws } from './draws.ts';
import { isDestructive } from './owned-operations.ts';
import { ACTORS, type Actor, type FuzzStep, MANNERS, type Manner } from './step.ts';

// Draws new sequences, and changed copies of those that once reached something new.

/** Operations that find more together than alone; the first of each list creates what the others use. */
const TOPICS: readonly (readonly string[])[] = [
  [
    'createSession',
    'getSessionStatus',
    'getSessionResult',
    'getSessionStatuses',
    'cancelSession',
    'streamPoll',
    'getResult',
    'deleteResult',
    'getReceipt',
    'listPolls',
    'getMermaid',
    'getResultPage',
  ],
  [
    'createPoll',
    'getResult',
    'giveFeedback',
    'getFeedback',
    'sendResultFeedback',
    'getResultPage',
    'deleteResult',
    'sendPollDeletion',
    'getPollDeletion',
    'listResults',
    'listRecentResults',
    'getReceipt',
    'exportAccount',
  ],
  [
    'streamPoll',
    'streamPoll',
    'getSessionStatus',
    'getSessionResult',
    'sendPollCancellation',
    'getDashboardPolls',
    'exportDashboardPolls',
  ],
  [
    'createBatch',
    'getBatch',
    'getBatchResults',
    'getBatchReport',
    'listBatches',
    'cancelBatch',
    'deleteBatch',
    'getDashboardBatch',
    'getDashboardBatchReport',
    'sendBatchCancellation',
    'sendBatchDeletion',
  ],
  [
    'sendBatch',
    'checkBatchForm',
    'getDashboardBatches',
    'getDashboardBatch',
    'sendBatchCancellation',
    'sendBatchDeletion',
    'getBatchResults',
  ],
  [
    'createKey',
    'changeKey',
    'revokeKey',
    'listKeys',
    'sendNewKey',
    'sendKeyChange',
    'sendKeyRotation',
    'sendKeyRevocation',
    'getDashboardKeys',
    'getDashboardKey',
    'getKeyRevocation',
    'getUsageBalance',
    'createPoll',
  ],
  [
    'createWebhookEndpoint',
    'getWebhookEndpoint',
    'changeWebhookEndpoint',
    'getWebhookSecret',
    'rotateWebhookSecret',
    'testWebhookEndpoint',
    'listWebhookDeliveries',
    'resendWebhookDelivery',
    'removeWebhookEndpoint',
    'createPoll',
  ],
  [
    'sendNewEndpoint',
    'getDashboardWebhook',
    'getDashboardWebhooks',
    'sendWebhookTest',
    'sendSecretRotation',
    'sendEndpointDisabling',
    'sendWebhookTest',
    'sendEndpointEnabling',
    'sendResend',
    'listWebhookDeliveries',
    'sendEndpointRemoval',
  ],
  ['savePanel', 'getPanel', 'listPanels', 'createPoll', 'removePanel', 'savePanel'],
  [
    'createCheckout',
    'receiveStripeEvent',
    'receiveStripeEvent',
    'getBalance',
    'getUsageBalance',
    'receiveStripeEvent',
    'getDashboard',
  ],
  [
    'deposit',
    'getUsageBalance',
    'getWalletChallenge',
    'verifyWallet',
    'rotateKeysByWallet',
    'revokeKeyByWallet',
    'listKeys',
  ],
  ['sendGrant', 'redeemGrant', 'getGrant', 'listKeys'],
  ['login', 'loginCallback', 'getCurrentUser', 'logout', 'getDashboard'],
  ['speakMcp', 'speakMcp', 'speakMcp', 'getUsageBalance'],
  ['sendTask', 'sendTask', 'sendTask', 'getSessionStatus'],
  ['createChatCompletion', 'quickPoll', 'listChatModels', 'sendPlayground', 'getResult'],
  [
    'setLowBalance',
    'getUsage',
    'getUsageBalance',
    'getDashboardUsage',
    'exportDashboardUsage',
    'sendLowBalance',
    'exportAccount',
  ],
];

/** After the end of an account, little is left to ask. */
const RARE = ['deleteAccount', 'deleteAccountByWallet', 'revokeAllKeys', 'rotateKeysByWallet', 'logout'];

const MANNER_WEIGHTS: readonly (readonly [Manner, number])[] = [
  ['good', 42],
  ['foreign', 12],
  ['ended', 10],
  ['bent', 5],
  ['again', 7],
  ['reused', 3],
  ['twice', 4],
  ['left', 2],
  ['hostile', 9],
  ['wild', 10],
];
const ACTOR_WEIGHTS: readonly (readonly [Actor, number])[] = [
  ['a', 74],
  ['b', 18],
  ['n', 8],
];
const MAX_STEPS = 60;
const SEEDS = 2 ** 31;

export class Drawing {
  readonly #weights: readonly (readonly [string, number])[];
  readonly #topics: readonly (readonly string[])[];

  constructor(operations: readonly FuzzedOperation[]) {
    const known = new Set(operations.map(({ id }) => id));
    this.#weights = operations.map((operation) => [operation.id, weightOf(operation)] as const);
    this.#topics = TOPICS.map((topic) => topic.filter((id) => known.has(id))).filter((topic) => topic.length > 0);
  }

  sequence(draws: Draws): FuzzStep[] {
    const steps: FuzzStep[] = [];
    const length = 12 + draws.below(MAX_STEPS - 20);
    while (steps.length < length) steps.push(...this.#chapter(draws));
    return steps;
  }

  #chapter(draws: Draws): FuzzStep[] {
    const topic = draws.of(this.#topics);
    const begin = {
      operation: topic[0]!,
      actor: draws.weighed(ACTOR_WEIGHTS),
      manner: 'good',
      seed: draws.below(SEEDS),
    } as const;
    const more = Array.from({ length: 2 + draws.below(7) }, () =>
      this.#step(draws, draws.oneIn(5) ? draws.weighed(this.#weights) : draws.of(topic)),
    );
    return [begin, ...more];
  }

  #step(draws: Draws, operation: string): FuzzStep {
    const manner = draws.weighed(MANNER_WEIGHTS);
    const isLost = manner === 'left' && isDestructive(operation);
    return {
      operation,
      actor: draws.weighed(ACTOR_WEIGHTS),
      manner: isLost ? 'good' : manner,
      seed: draws.below(SEEDS),
    };
  }

  /** A copy with a few changes, or the start of one sequence with the end of another. */
  changed(steps: readonly FuzzStep[], other: readonly FuzzStep[], draws: Draws): FuzzStep[] {
    const made = [...steps];
    for (let left = 1 + draws.below(4); left > 0; left--) {
      const at = draws.below(Math.max(1, made.length));
      switch (draws.below(8)) {
        case 0:
          made.splice(at, 1);
          break;
        case 1:
          made.splice(at, 0, this.#step(draws, draws.weighed(this.#weights)));
          break;
        case 2:
          made.splice(at, 0, ...this.#chapter(draws));
          break;
        case 3:
          made.splice(at, made.length, ...other.slice(draws.below(Math.max(1, other.length))));
          break;
        case 4:
          if (made[at]) made.push(made[at]);
          break;
        case 5:
          if (made[at]) made[at] = { ...made[at], seed: draws.below(SEEDS) };
          break;
        case 6:
          if (made[at]) made[at] = { ...made[at], manner: draws.of(MANNERS) };
          break;
        default:
          if (made[at]) made[at] = { ...made[at], actor: draws.of(ACTORS) };
      }
    }
    made.push(...(made.length < 8 ? this.#chapter(draws) : []));
    return made.slice(0, MAX_STEPS);
  }
}

function weightOf({ id, method, path, parameters, ways }: FuzzedOperation): number {
  if (RARE.includes(id)) return 1;
  const varies = path.includes('{') || parameters.some((parameter) => parameter.in === 'query');
  // Documents that never change and are the same for everyone.
  if (method === 'GET' && !varies && ways.every((way) => way === 'none')) return 1;
  return path === '/result/{resultId}' || ways.includes('none') ? 6 : 12;
}
