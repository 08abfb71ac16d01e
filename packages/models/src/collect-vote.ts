import type { VoteError } from '@eloquentpoll/contracts';
import { believedCost, billedU, costOfUsage, countedUsage, guessedUsage } from './billing.ts';
import type { CallCosts, CallPrice } from './call-costs.ts';
import {
  type CallFailure,
  isAnswer,
  isByQuestion,
  isFreeOfCharge,
  isOurFault,
  retryWaitMs,
  suspicionOf,
  voteErrorOf,
} from './call-failure.ts';
import { cleanReason } from './clean-reason.ts';
import { isCutPrompt } from './context-window.ts';
import { type Deadline, sleep } from './deadline.ts';
import type { VoteWatch } from './model-watch.ts';
import type { Model, Provider, Timeouts } from './panel-types.ts';
import { composePrompt } from './prompt.ts';
import type { ProviderLine } from './provider-line.ts';
import { type AnswerReading, answerBytes, readAnswer, readProviderCost } from './read-answer.ts';
import { requestBody } from './request-body.ts';
import type { RetryBudget } from './retry-budget.ts';
import type { VoteRequest } from './vote-request.ts';

// The calls of one vote: one call, plus at most one retry and one repair. What each says about the model is reported.

export interface VoteContext {
  request: VoteRequest;
  model: Model;
  provider: Provider;
  line: ProviderLine;
  retries: RetryBudget;
  watch: VoteWatch;
  timeouts: Timeouts;
  limit: Deadline;
  /** False: the call must not be made. */
  beforeCall: (() => Promise<boolean>) | undefined;
  /** False: `beforeCall` must be awaited again. */
  isCurrent: (() => boolean) | undefined;
  now: () => number;
  random: () => number;
  /** The provider rejected the request because of a field or the key. */
  onRejected(status: number, field: string | null): void;
}

/** What the calls of a vote have led to so far, with or without a vote. */
export interface CallsMade {
  labels: string[];
  searched: boolean;
  costs: CallCosts;
}

export type VoteOutcome =
  /** `reason`: only if one was requested. */
  | { option: number; billedU: number; callMs: number; reason?: string | null }
  /** `blameless`: the failure says nothing about the model. */
  | { error: VoteError; blameless: boolean };

export async function collectVote(context: VoteContext, made: CallsMade): Promise<VoteOutcome> {
  const { request, model, provider, line, retries, watch, timeouts, limit, now, random } = context;
  const { costs } = made;
  const prompt = composePrompt(request);
  const search = request.search && model.search !== null;
  made.labels = prompt.labels;
  made.searched = search;
  let mayRetry = !watch.isProbe;
  let repair = false;
  for (;;) {
    // Asked after the wait at the gate and before each retry or repair: a process that was paused may have lost the
    // poll.
    const allowed = (await context.beforeCall?.()) ?? true;
    const over = limit.error();
    if (over || !allowed) return { error: over ?? 'aborted', blameless: true };
    const body = requestBody({ model, provider, prompt, style: request.style, search, repair, caller: request.caller });
    // The process may have been paused since it was allowed to call. From here to the call, nothing else runs.
    if (context.isCurrent?.() === false) continue;
    const begun = { at: null as number | null };
    const begin = (): void => {
      if (begun.at !== null) return;
      begun.at = now();
      watch.began();
      costs.sent();
      retries.earn();
    };
    const trace = traceOf(provider, request, costs.calls + 1);
    const result = await line.complete(body, { timeouts, trace, signal: limit.signal, onStart: begin });
    const stopped = limit.error();
    // The request had no connection yet, for example because other calls use all of ours. The provider received
    // nothing.
    if (stopped && begun.at === null) {
      watch.ended();
      return { error: stopped, blameless: true };
    }
    begin();
    const callMs = now() - begun.at!;
    if ('reply' in result) {
      watch.answered();
      const { reply } = result;
      const said = countedUsage(model, reply, { searched: search, callMaxU: request.call.maxU });
      // The model did not see the whole question. The server cut it, and would cut it again.
      const reading: AnswerReading = isCutPrompt(model, said, prompt.block)
        ? { error: 'provider_error', repair: false }
        : readAnswer(model, reply, prompt.labels);
      // A vote on a prompt of no tokens was not counted: believed, it would cost and bill nothing.
      const usage = 'vote' in reading && said?.inputTokens === 0 ? null : said;
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
    const isError = failure.kind === 'status' || failure.kind === 'refusal';
    const isFree = isFreeOfCharge(failure) || (isError && provider.takes.filteredCosts === 'nothing');
    const blameless = stopped !== null && callMs < suspectAfterMs(model, stopped);
    let byQuestion = isAnswer(failure);
    if (byQuestion) watch.answered();
    else if (blameless) watch.ended();
    else byQuestion = watch.failed(suspicionOf(failure));
    costs.ended({
      said: null,
      counted: isFree ? 0 : countedOfFailure(failure, body),
      usage: isFree ? { inputTokens: 0, outputTokens: 0 } : null,
      byQuestion,
      unknown: failure.kind === 'refusal' ? refusalPrice(failure, body) : undefined,
    });
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

  /**
   * The cost of a malformed answer that the provider did not pass on, guessed from its bytes. Without a guess, no
   * repair would be made.
   */
  function countedOfFailure(failure: CallFailure, body: object): number | null {
    if (failure.kind !== 'malformed' || !failure.repair) return null;
    return costOfUsage(model, guessedUsage(model, failure.answerBytes, JSON.stringify(body)), search);
  }

  /** If the filter rejected the prompt before any model worked, some vendors charge at most for the prompt. */
  function refusalPrice({ written }: Extract<CallFailure, { kind: 'refusal' }>, body: object): CallPrice {
    const { typicalU, maxU } =
      !written && provider.takes.filteredCosts === 'prompt' ? promptPrice(JSON.stringify(body)) : request.call;
    return { typicalU: typicalU + model.refusalFeeU, maxU: maxU + model.refusalFeeU };
  }

  /** A token is at least one byte, and usually several. */
  function promptPrice(requestText: string): CallPrice {
    const found = (search && model.search?.extraInputTokens) || 0;
    const costOfPrompt = (inputTokens: number): number =>
      Math.min(request.call.maxU, costOfUsage(model, { inputTokens: inputTokens + found, outputTokens: 0 }, search));
    const { inputTokens } = guessedUsage(model, 0, requestText);
    return { typicalU: costOfPrompt(inputTokens), maxU: costOfPrompt(Buffer.byteLength(requestText)) };
  }

  function waitBeforeRetry(failure: CallFailure): number | null {
    const waitMs = retryWaitMs(failure, random);
    const helps = waitMs !== null && waitMs + model.p50Ms < limit.leftMs();
    return helps && costs.mayCall() && retries.spend() ? waitMs : null;
  }
}

/**
 * How long a stopped call must have run before it counts against the model. It does not count if the deadline was
 * shorter than the model's usual time, or if the poll was decided without it, unless the model was long overdue.
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
