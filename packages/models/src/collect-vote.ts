import type { VoteError } from '@eloquentpoll/contracts';
import { believedCost, billedU, costOfUsage, countedUsage, guessedUsage } from './billing.ts';
import type { Breaker, BreakerChange } from './breaker.ts';
import type { CallCosts, CallPrice } from './call-costs.ts';
import {
  type CallFailure,
  isAnswer,
  isByQuestion,
  isFreeOfCharge,
  isOurFault,
  mayBeQuestion,
  retryWaitMs,
  voteErrorOf,
} from './call-failure.ts';
import { cleanReason } from './clean-reason.ts';
import { isCutPrompt } from './context-window.ts';
import { type Deadline, sleep } from './deadline.ts';
import type { Model, Provider, Timeouts } from './panel-types.ts';
import { composePrompt } from './prompt.ts';
import type { ProviderLine } from './provider-line.ts';
import { type AnswerReading, answerBytes, readAnswer, readProviderCost } from './read-answer.ts';
import { requestBody } from './request-body.ts';
import type { RetryBudget } from './retry-budget.ts';
import type { VoteRequest } from './vote-request.ts';

// The calls of one vote: one, with at most one retry and one repair. Every call is reported to the model's breaker.

export interface VoteContext {
  request: VoteRequest;
  model: Model;
  provider: Provider;
  line: ProviderLine;
  retries: RetryBudget;
  breaker: Breaker;
  /** This is the one call that tries a resting model again. */
  probe: boolean;
  timeouts: Timeouts;
  limit: Deadline;
  /** False: the call must not be made any more. */
  beforeCall: (() => Promise<boolean>) | undefined;
  /** False: `beforeCall` has to be asked again. */
  isCurrent: (() => boolean) | undefined;
  now: () => number;
  random: () => number;
  /** False: this account has brought about enough failures that may be its questions' doing. */
  mayBlame(): boolean;
  onBreaker(change: BreakerChange): void;
  /** The provider turned the request away for a field of it, or for the key. */
  onRejected(status: number, field: string | null): void;
}

/** What the calls of a vote came to so far, whether or not they bring one. */
export interface CallsMade {
  labels: string[];
  searched: boolean;
  costs: CallCosts;
}

export type VoteOutcome =
  /** `reason` only where one was asked for. */
  | { option: number; billedU: number; callMs: number; reason?: string | null }
  /** `blameless`: it says nothing about the model. */
  | { error: VoteError; blameless: boolean };

export async function collectVote(context: VoteContext, made: CallsMade): Promise<VoteOutcome> {
  const { request, model, provider, line, retries, breaker, probe, timeouts, limit, now, random } = context;
  const { costs } = made;
  const prompt = composePrompt(request);
  const search = request.search && model.search !== null;
  made.labels = prompt.labels;
  made.searched = search;
  let mayRetry = !probe;
  let repair = false;
  for (;;) {
    // After the wait at the gate, and before a retry or repair: a process that was paused may have lost the poll.
    const allowed = (await context.beforeCall?.()) ?? true;
    const over = limit.error();
    if (over || !allowed) return { error: over ?? 'aborted', blameless: true };
    const body = requestBody({ model, provider, prompt, style: request.style, search, repair, caller: request.caller });
    // The process may have been stopped since it was allowed to. From here on nothing else runs until the call is made.
    if (context.isCurrent?.() === false) continue;
    const begun = { at: null as number | null };
    const begin = (): void => {
      if (begun.at !== null) return;
      begun.at = now();
      costs.sent();
      retries.earn();
    };
    const trace = traceOf(provider, request, costs.calls + 1);
    const result = await line.complete(body, { timeouts, trace, signal: limit.signal, onStart: begin });
    const stopped = limit.error();
    // It had no connection yet, such as where calls under way have all of ours: the provider was sent nothing.
    if (stopped && begun.at === null) {
      breaker.ended(probe);
      return { error: stopped, blameless: true };
    }
    begin();
    const callMs = now() - begun.at!;
    if ('reply' in result) {
      report(breaker.succeeded(now()));
      const { reply } = result;
      const usage = countedUsage(model, reply, { searched: search, callMaxU: request.call.maxU });
      // What was voted on is not the question: the server's doing, and asking again would be cut again.
      const reading: AnswerReading = isCutPrompt(model, usage, prompt.block)
        ? { error: 'provider_error', repair: false }
        : readAnswer(model, reply, prompt.labels);
      const counted = usage && costOfUsage(model, usage, search);
      costs.ended({
        said: believedCost(readProviderCost(reply, model.feePpm), counted, request.call.maxU),
        counted,
        usage,
        byQuestion: 'error' in reading && isByQuestion(reading.error),
      });
      if ('vote' in reading) {
        const { pricePpm, reserveU } = request;
        const answered = usage ?? guessedUsage(model, answerBytes(reply), JSON.stringify(body));
        const bill = billedU(model, answered, { searched: search, pricePpm, reserveU });
        const reason = request.style === 'reason' && { reason: cleanReason(reading.rationale) };
        return { option: reading.vote, callMs, billedU: bill, ...reason };
      }
      if (stopped) return { error: stopped, blameless: true };
      if (repair || !reading.repair || !costs.mayCall()) return { error: reading.error, blameless: false };
      repair = true;
      continue;
    }
    const { failure } = result;
    if (failure.kind === 'status' && isOurFault(failure)) context.onRejected(failure.status, failure.field);
    const isFree =
      isFreeOfCharge(failure) || (failure.kind === 'refusal' && provider.takes.filteredCosts === 'nothing');
    costs.ended({
      said: null,
      counted: isFree ? 0 : countedOfFailure(failure, body),
      usage: isFree ? { inputTokens: 0, outputTokens: 0 } : null,
      byQuestion: isAnswer(failure),
      unknown: isFilteredPrompt(failure) ? promptPrice(JSON.stringify(body)) : undefined,
    });
    const blameless = stopped !== null && callMs < suspectAfterMs(model, stopped);
    if (isAnswer(failure)) report(breaker.succeeded(now()));
    else if (blameless || (mayBeQuestion(failure) && !context.mayBlame())) breaker.ended(probe);
    else report(breaker.failed(now(), probe));
    if (stopped) return { error: stopped, blameless };
    if (failure.kind === 'malformed' && failure.repair && !repair && costs.mayCall()) {
      repair = true;
      continue;
    }
    const waitMs = mayRetry ? waitBeforeRetry(failure) : null;
    if (waitMs === null) return { error: voteErrorOf(failure), blameless: false };
    mayRetry = false;
    await sleep(waitMs, limit.signal);
    if (limit.error() === 'aborted') return { error: 'aborted', blameless: true };
    if (limit.error()) return { error: voteErrorOf(failure), blameless: false };
  }

  /** Of an answer that the provider did not pass on, by its bytes: a repair of unknown cost would not be made. */
  function countedOfFailure(failure: CallFailure, body: object): number | null {
    if (failure.kind !== 'malformed' || !failure.repair) return null;
    return costOfUsage(model, guessedUsage(model, failure.answerBytes, JSON.stringify(body)), search);
  }

  /** No model can have worked for it, and its vendor charges no more than what was read. */
  function isFilteredPrompt(failure: CallFailure): boolean {
    return failure.kind === 'refusal' && !failure.written && provider.takes.filteredCosts === 'prompt';
  }

  /** A token stands for at least one byte, and usually for a few. */
  function promptPrice(requestText: string): CallPrice {
    const found = (search && model.search?.extraInputTokens) || 0;
    const costOfPrompt = (inputTokens: number): number =>
      Math.min(request.call.maxU, costOfUsage(model, { inputTokens: inputTokens + found, outputTokens: 0 }, search));
    const { inputTokens } = guessedUsage(model, 0, requestText);
    return { typicalU: costOfPrompt(inputTokens), maxU: costOfPrompt(Buffer.byteLength(requestText)) };
  }

  function report(change: BreakerChange | null): void {
    if (change) context.onBreaker(change);
  }

  function waitBeforeRetry(failure: CallFailure): number | null {
    const waitMs = retryWaitMs(failure, random);
    const helps = waitMs !== null && waitMs + model.p50Ms < limit.leftMs();
    return helps && costs.mayCall() && retries.spend() ? waitMs : null;
  }
}

/**
 * How long a call must have hung before being stopped speaks against the model: a deadline nearer than its usual time
 * does not, nor does a poll that was decided without it, unless the model was long overdue.
 */
function suspectAfterMs(model: Model, stopped: 'timeout' | 'aborted'): number {
  return stopped === 'timeout' ? model.p90Ms : 2 * model.p90Ms;
}

function traceOf(provider: Provider, request: VoteRequest, attempt: number): Record<string, string> {
  if (!provider.traceHeaders) return {};
  return {
    'x-poll-id': request.pollId,
    'x-seat': String(request.seat),
    'x-attempt': String(attempt),
    'x-asked-at': String(Date.now()),
  };
}
