import type { PollSpec } from '@eloquentpoll/contracts';
import { isFree } from '@eloquentpoll/polls';
import type { Accepted } from '@eloquentpoll/storage';
import { accountFrozen } from '../../accounts/frozen.ts';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import { insufficientFunds } from './insufficient-funds.ts';
import { keyBudgetReached } from './key-budget-reached.ts';
import { MAX_HELD_RETRY_S } from './refusals.ts';

// The error for a poll that was refused: the reason, and when to retry.

/** A poll takes seconds, and a caller at the limit has many that will end soon. */
const RUNNING_RETRY_S = 2;

interface RefusedPoll {
  spec: Pick<PollSpec, 'panel_name'>;
  holdU: bigint;
  keyId: string | undefined;
  /** The caller's name for the idempotency key, if it is not sent in the header. */
  keyName: string | undefined;
  startWithinMs: number;
}

export async function whyRefused(
  context: PollsContext,
  refused: Exclude<Accepted, { pollId: string }>,
  { spec, holdU, keyId, keyName, startWithinMs }: RefusedPoll,
): Promise<ApiError> {
  switch (refused.kind) {
    case 'reused':
      return keyReused(keyName);
    case 'too_many':
    case 'too_many_of_key':
      return new ApiError('too_many_running', {
        detail: `${refused.running} polls${refused.kind === 'too_many' ? '' : ' of this key'} are running or waiting; send this one again when some have ended.`,
        retryAfterSeconds: RUNNING_RETRY_S,
      });
    case 'too_late':
      return cannotStart(context.outlook.waitMs(refused.waiting), startWithinMs);
    case 'over_ceiling':
      return new ApiError('provider_budget_reached', {
        detail: `What ${isFree(spec.panel_name) ? 'free polls' : 'polls'} may cost at model providers for now is used up or set aside.`,
        retryAfterSeconds: refused.retryAfterS,
      });
    case 'frozen':
      return accountFrozen();
    case 'stopped':
      return pollsStopped();
    case 'key_limit':
      return await keyBudgetReached(context, keyId!, holdU);
    case 'insufficient':
      return refused.retryAfterS === null
        ? insufficientFunds(context.config, { ...refused, holdU })
        : freeBudgetRefusal(refused.retryAfterS);
    default:
      return refused satisfies never;
  }
}

const keyReused = (name?: string): ApiError =>
  new ApiError('idempotency_key_reused', {
    detail: `This ${name ?? 'Idempotency-Key'} was used before with another body: send that body again, or use another ${name ?? 'key'}.`,
  });

/** Retry once the queue ahead has shrunk enough for a start in time. */
const cannotStart = (waitMs: number, startWithinMs: number): ApiError =>
  new ApiError('rate_limited', {
    detail: `The poll would wait about ${Math.ceil(waitMs / 1_000)} s for models, too long for its deadline.`,
    retryAfterSeconds: Math.max(1, Math.ceil((waitMs - startWithinMs) / 1_000)),
  });

/** Polls resume for the whole fleet at once, after minutes; random delays keep callers from returning together. */
const pollsStopped = (): ApiError =>
  new ApiError('polls_stopped', { retryAfterSeconds: 30 + Math.floor(Math.random() * 30) });

const freeBudgetRefusal = (retryAfterSeconds: number): ApiError =>
  new ApiError('rate_limited', {
    detail:
      retryAfterSeconds <= MAX_HELD_RETRY_S
        ? "What is left of the day's budget for free polls is set aside for running ones; try again in a moment."
        : "The day's budget for free polls is used up; it is filled again at midnight UTC.",
    retryAfterSeconds,
  });
