import type { VoteError } from '@eloquentpoll/contracts';
import { billedU } from './billing.ts';
import type { Breaker, BreakerChange } from './breaker.ts';
import { type CallFailure, retryWaitMs, voteErrorOf } from './call-failure.ts';
import { type Deadline, sleep } from './deadline.ts';
import type { Model, Provider, Timeouts } from './panel-types.ts';
import { composePrompt } from './prompt.ts';
import type { ProviderLine } from './provider-line.ts';
import { readAnswer, readProviderCost } from './read-answer.ts';
import { requestBody } from './request-body.ts';
import type { RetryBudget } from './retry-budget.ts';
import type { Paper } from './vote-request.ts';

// The calls of one vote: one, with at most one retry and one repair. Every call also tells the model's breaker how its
// line is.

/** What a vote is filled in with. */
export interface Filling {
  paper: Paper;
  model: Model;
  provider: Provider;
  line: ProviderLine;
  retries: RetryBudget;
  breaker: Breaker;
  /** This is the one call that tries a resting model again. */
  probe: boolean;
  timeouts: Timeouts;
  limit: Deadline;
  confirmed: () => Promise<void>;
  now: () => number;
  random: () => number;
  onBreaker(change: BreakerChange): void;
}

/** What happened to a vote so far, whatever comes of it. */
export interface Progress {
  labels: string[];
  calls: number;
  providerCostU: number | null;
  searched: boolean;
}

export type Outcome =
  | { option: number; billedU: number; callMs: number }
  /** `blameless`: it says nothing about the model. */
  | { error: VoteError; blameless: boolean };

export async function collectVote(filling: Filling, progress: Progress): Promise<Outcome> {
  const { paper, model, provider, line, retries, breaker, probe, timeouts, limit, now, random } = filling;
  const prompt = composePrompt(paper);
  const search = paper.search && model.search !== null;
  progress.labels = prompt.labels;
  progress.searched = search;
  let mayRetry = !probe;
  let repair = false;
  for (;;) {
    // A process that was paused finds its place at the gate, an answer to repair or a failure to repeat before it hears
    // what it has lost meanwhile.
    await filling.confirmed();
    if (limit.error() === 'aborted') return { error: 'aborted', blameless: true };
    const body = requestBody({ model, provider, prompt, style: paper.style, search, repair });
    progress.calls += 1;
    retries.earn();
    const called = now();
    const trace = traceOf(provider, paper, progress.calls);
    const result = await line.complete(body, { timeouts, trace, signal: limit.signal });
    const callMs = now() - called;
    const stopped = limit.error();
    if ('reply' in result) {
      tell(breaker.succeeded(now()));
      const { reply } = result;
      const costU = readProviderCost(reply);
      if (costU !== null) progress.providerCostU = (progress.providerCostU ?? 0) + costU;
      const reading = readAnswer(model, reply, prompt.labels);
      if ('vote' in reading) {
        const bill = billedU(model, reply, () => JSON.stringify(body), search, paper.reserveU);
        return { option: reading.vote, callMs, billedU: bill };
      }
      if (stopped) return { error: stopped, blameless: true };
      if (repair || !reading.repair) return { error: reading.error, blameless: false };
      repair = true;
      continue;
    }
    const { failure } = result;
    const blameless = stopped !== null && callMs < patienceMs(model, stopped);
    if (failure.kind === 'refusal') tell(breaker.succeeded(now()));
    else if (blameless) breaker.ended(probe);
    else tell(breaker.failed(now(), probe));
    if (stopped) return { error: stopped, blameless };
    const waitMs = mayRetry ? waitBeforeRetry(failure) : null;
    if (waitMs === null) return { error: voteErrorOf(failure), blameless: false };
    mayRetry = false;
    await sleep(waitMs, limit.signal);
    if (limit.error() === 'aborted') return { error: 'aborted', blameless: true };
    if (limit.error()) return { error: voteErrorOf(failure), blameless: false };
  }

  function tell(change: BreakerChange | null): void {
    if (change) filling.onBreaker(change);
  }

  function waitBeforeRetry(failure: CallFailure): number | null {
    const waitMs = retryWaitMs(failure, random);
    return waitMs !== null && waitMs < limit.leftMs() && retries.spend() ? waitMs : null;
  }
}

/**
 * How long a call must have hung before being stopped speaks against the model: a deadline nearer than its usual time
 * does not, nor does a poll that was decided without it, unless the model was long overdue.
 */
function patienceMs(model: Model, stopped: 'timeout' | 'aborted'): number {
  return stopped === 'timeout' ? model.p90Ms : 2 * model.p90Ms;
}

function traceOf(provider: Provider, paper: Paper, attempt: number): Record<string, string> {
  if (!provider.traceHeaders) return {};
  return {
    'x-poll-id': paper.pollId,
    'x-seat': String(paper.seat),
    'x-attempt': String(attempt),
    'x-asked-at': String(Date.now()),
  };
}
