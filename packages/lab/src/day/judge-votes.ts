import { optionDigest } from '../fixture/election.ts';
import type { JudgedAnswer } from './judge-answer.ts';

// Checks votes and prices against the provider's record of its calls: a model may fail only if the provider says so,
// and a vote must cost what the provider charged, times the published factor.

export interface ProviderCall {
  readonly model: string;
  readonly outcome: string;
  /** The digest of the option that the answer named; null if it named none. */
  readonly option_digest: string | null;
  readonly cost_usd: number | null;
}

export interface ChargedAnswer {
  readonly votes: JudgedAnswer['votes'];
  readonly costs?: JudgedAnswer['costs'];
  /** Set if the answer has only a total. */
  readonly saidUsd?: number | undefined;
  /** Null if the caller pays nothing. */
  readonly factor: number | null;
  readonly isCanceled: boolean;
}

export interface JudgedVotes {
  readonly problems: readonly string[];
  /** Votes that failed although their provider did not: the time was over, or the call was never made. */
  readonly unheard: readonly string[];
}

/** Both what a provider charges and what a caller pays for it are rounded up to whole micro-USD. */
const MAX_ROUNDING_U = 1.01;
/** Outcomes of calls whose answer reached the caller completely. */
const DELIVERED = new Set(['vote', 'late']);

export function judgeVotes(answer: ChargedAnswer, calls: readonly ProviderCall[]): JudgedVotes {
  const problems: string[] = [];
  const unheard: string[] = [];
  const range = { leastU: 0, mostU: 0 };
  const { votes, factor, isCanceled, costs, saidUsd } = answer;
  const failedU = 1e6 * (costs?.failed_calls_cost ?? 0);
  for (const { model_id: model, chosen_option: option, success, estimated_cost: costUsd, error } of votes) {
    const made = calls.filter((call) => call.model === model);
    const answered = made.findLast(isVote);
    const calledFor = { leastU: 0, mostU: 0 };
    if (success) {
      if (answered?.option_digest !== optionDigest(option!))
        problems.push(`${model} voted ${option}, its provider says ${textOf(made)}`);
      const providerU = 1e6 * (answered?.cost_usd ?? 0);
      calledFor.leastU = (factor ?? 0) * providerU - 0.01;
      calledFor.mostU = factor === null ? 0 : factor * (providerU + MAX_ROUNDING_U) + MAX_ROUNDING_U;
    } else if (!(isCanceled && error === 'aborted')) {
      const last = made.at(-1);
      if (answered && error !== 'timeout')
        problems.push(`${model} failed (${error}), its provider says ${textOf(made)}`);
      else if (answered || !last || error === 'timeout' || last.outcome === 'gone')
        unheard.push(`${model}: ${error} after ${textOf(made)}`);
    }
    range.leastU += calledFor.leastU;
    range.mostU += calledFor.mostU;
    if (costUsd === undefined) continue;
    const costU = 1e6 * costUsd;
    // The cost of a question's failed calls is included in its votes, and known only as a total.
    if (costU < calledFor.leastU || costU > calledFor.mostU + failedU)
      problems.push(`the vote of ${model} costs ${costUsd} USD, its provider charged ${textOf(made)}`);
  }
  const brought = new Set(votes.filter(({ success }) => success).map(({ model_id }) => model_id));
  const failedMostU = calls
    .filter((call) => !isVote(call) || !brought.has(call.model))
    .reduce((sum, { cost_usd }) => sum + 1e6 * (cost_usd ?? 0) + MAX_ROUNDING_U, 0);
  if (failedU > failedMostU)
    problems.push(`failed calls cost ${failedU} micro-USD, the provider charged ${failedMostU}`);
  const totalUsd = costs?.total_estimated_cost ?? saidUsd;
  const totalU = 1e6 * (totalUsd ?? 0);
  if (totalUsd !== undefined && (totalU < range.leastU || totalU > range.mostU + (costs ? failedU : failedMostU)))
    problems.push(`it costs ${totalUsd} USD, by its provider's record ${range.leastU} to ${range.mostU} micro-USD`);
  return { problems, unheard };
}

const isVote = ({ outcome, option_digest }: ProviderCall): boolean => DELIVERED.has(outcome) && option_digest !== null;

const textOf = (made: readonly ProviderCall[]): string =>
  made.length === 0
    ? 'nothing, for it was not asked'
    : made.map(({ outcome, cost_usd }) => `${outcome} for ${cost_usd}`).join(', ');
