// The outcome of a poll in words, the same on every surface. Agreement is the leader's share of the votes, "likely to
// stay" the probability that the full panel elects the same option. A certain outcome is called "final", never 100%.
import { resultStatus, votesMissing } from '../status.ts';
import type { TerminationReason } from '../stop-rules.ts';
import { isTie, lead, leader, type Votes, votesCast } from '../tally.ts';
import { type Band, bandOf, changeBySwitching } from './agreement.ts';
import { headlineOf, headlineText, type Part, quotedHeadlineText } from './headline.ts';
import { counted, dollars, failuresByCause, POLL_CANCELED, percentOf, saysCanceled } from './words.ts';

export { bandOf } from './agreement.ts';
export { headlineText } from './headline.ts';
export { counted, dollars, isCanceled, POLL_CANCELED, percentOf } from './words.ts';

export interface VerdictPoll {
  readonly options: readonly string[];
  /** Votes per option. */
  readonly tally: Votes;
  /** Number of seats, asked or not. */
  readonly panelSize: number;
  /** The error code of each vote that ended without an option. */
  readonly failures: readonly string[];
  readonly hasEnded: boolean;
  /** Null while the poll runs, and if the deadline ended it. */
  readonly reason: TerminationReason | null;
  /** The caller canceled the poll. Votes that were running then show it too, but there may be none. */
  readonly isCanceled?: boolean;
  /** Null without a leader, and if it was not recorded. */
  readonly confidence: number | null;
  readonly savedUsd?: number;
  readonly limitUsd?: number;
  /** The maximum cost of the cheapest vote. */
  readonly cheapestVoteUsd?: number;
}

export type VerdictKind =
  /** Ended and settled. */
  | 'final'
  /** Stopped early: the remaining models could have changed the winner, with a stated probability. */
  | 'kept'
  | 'tied'
  /** Missing votes could have changed the winner. */
  | 'unsafe'
  | 'unanswered'
  /** Still running. */
  | 'leading'
  | 'level'
  | 'waiting';

export type Advice = 'ask_strong_panel' | 'rephrase' | 'retry' | 'raise_limit';

export interface Verdict {
  readonly kind: VerdictKind;
  readonly headline: string;
  /** The headline with options as separate parts, for surfaces that isolate the direction of foreign text. */
  readonly headlineParts: readonly Part[];
  readonly leader: number | null;
  readonly band: Band | null;
  /** The leader's share of the votes cast. */
  readonly agreement: number | null;
  /** Below 1. Null if the outcome is final, unknown or without a leader. */
  readonly likelyToStay: number | null;
  /** What could change the outcome. */
  readonly change: string | null;
  /** The text below the headline. */
  readonly sentences: readonly string[];
  /** Null if the panel shows no preference. */
  readonly meaning: string | null;
  readonly advice: readonly Advice[];
}

/** "One of them": a vote for an option that is not tied may leave the tie as it is. */
const BREAKS_A_TIE = 'One more vote for one of them would break the tie.';
const MEANING = 'This is what the panel prefers, not proof that it is true.';

export function verdict(poll: VerdictPoll): Verdict {
  const facts = factsOf(poll);
  const headlineParts = headlineOf(facts.kind, poll, facts.band);
  const likelyToStay = facts.kind === 'kept' || facts.kind === 'leading' ? openConfidence(poll) : null;
  return {
    kind: facts.kind,
    headline: headlineText(headlineParts, poll.options),
    headlineParts,
    leader: facts.leader,
    band: facts.band,
    agreement: facts.leader === null ? null : poll.tally[facts.leader]! / facts.cast,
    likelyToStay,
    change: changeOf(poll, facts),
    sentences: sentencesOf(poll, facts, likelyToStay),
    meaning: facts.cast === 0 ? null : MEANING,
    advice: adviceOf(poll, facts),
  };
}

/** What the models that were not asked would have cost, at the average cost of the valid votes. */
export const savedUsd = (costsOfValidVotes: readonly number[], notAsked: number): number =>
  costsOfValidVotes.length === 0
    ? 0
    : (costsOfValidVotes.reduce((sum, cost) => sum + cost, 0) / costsOfValidVotes.length) * notAsked;

/** The verdict as text: headline, sentences and meaning. */
export const verdictText = ({ headline, sentences, meaning }: Verdict): string =>
  [headline, sentences.join(' '), meaning].filter((line) => line !== null && line !== '').join('\n');

/** The same with options as JSON strings, so that no option can look like our own text. */
export const quotedVerdictText = (said: Verdict, options: readonly string[]): string =>
  verdictText({ ...said, headline: quotedHeadlineText(said.headlineParts, options) });

interface Facts {
  readonly kind: VerdictKind;
  readonly cast: number;
  /** Number of seats with neither a vote nor a failure. */
  readonly left: number;
  readonly leader: number | null;
  readonly band: Band | null;
}

function factsOf(poll: VerdictPoll): Facts {
  const cast = votesCast(poll.tally);
  const left = Math.max(0, poll.panelSize - cast - poll.failures.length);
  const facts = { cast, left, leader: leader(poll.tally), band: bandOf(poll.tally) };
  return { ...facts, kind: poll.hasEnded ? endedKind(poll, left) : runningKind(poll) };
}

function runningKind({ tally }: VerdictPoll): VerdictKind {
  if (votesCast(tally) === 0) return 'waiting';
  return isTie(tally) ? 'level' : 'leading';
}

function endedKind({ tally, failures, reason }: VerdictPoll, left: number): VerdictKind {
  switch (resultStatus(tally, votesMissing(reason, failures.length, left))) {
    case 'failed':
      return 'unanswered';
    case 'partial':
      return 'unsafe';
    case 'success':
      if (isTie(tally)) return 'tied';
      return lead(tally) > left + failures.length ? 'final' : 'kept';
  }
}

/** Confidence is about future votes, so it is null without a leader and outside of [0, 1). */
function openConfidence({ tally, confidence }: VerdictPoll): number | null {
  if (confidence === null || leader(tally) === null) return null;
  return confidence >= 0 && confidence < 1 ? confidence : null;
}

function sentencesOf(poll: VerdictPoll, facts: Facts, likelyToStay: number | null): string[] {
  const { panelSize } = poll;
  switch (facts.kind) {
    case 'final':
      return present([
        agreementOf(facts),
        settledBy(poll, facts),
        answered(poll, facts),
        changeOf(poll, facts),
        notNeeded(poll, facts),
      ]);
    case 'kept':
      return present([
        agreementOf(facts),
        chanceToStay(likelyToStay, panelSize, 'were'),
        answered(poll, facts),
        notNeeded(poll, facts),
      ]);
    case 'tied':
      return [
        answered(poll, facts) ??
          (facts.left === 0 ? `All ${panelSize} voted.` : `${facts.cast} of ${panelSize} voted.`),
        'Ask two more models, or rephrase.',
      ];
    case 'unsafe':
      return present([
        answered(poll, facts),
        notAsked(poll, facts),
        'The missing votes could have changed the winner.',
      ]);
    case 'unanswered':
      return present([
        answered(poll, facts),
        unaffordable(poll, facts),
        poll.failures.length === 0 ? 'Nothing was charged.' : null,
      ]);
    case 'leading':
      return present([
        agreementOf(facts),
        lead(poll.tally) > facts.left
          ? 'No vote to come can change the winner.'
          : chanceToStay(likelyToStay, panelSize, 'are'),
        failed(poll),
      ]);
    case 'level':
      return present([`${facts.cast} of ${panelSize} voted.`, facts.left > 0 ? BREAKS_A_TIE : null, failed(poll)]);
    case 'waiting':
      return present([`${facts.cast} of ${panelSize} voted.`, failed(poll)]);
  }
}

const present = (sentences: readonly (string | null)[]): string[] => sentences.filter((sentence) => sentence !== null);

const agreementOf = ({ band, left }: Facts): string | null =>
  band === null ? null : `Agreement: ${band}${left > 0 ? ' so far' : ''}.`;

function settledBy({ panelSize, failures }: VerdictPoll, { left }: Facts): string {
  if (left > 0)
    return `Final: ${left === 1 ? 'the one model' : `the ${left} models`} left could not change the winner.`;
  if (failures.length === 0) return `Final: all ${panelSize} voted.`;
  return `Final: the ${failures.length === 1 ? 'missing vote' : `${failures.length} missing votes`} could not have changed the winner.`;
}

function chanceToStay(likelyToStay: number | null, panelSize: number, verb: 'are' | 'were'): string {
  const percent = percentOf(likelyToStay);
  return percent === null
    ? 'The models left could still change the winner.'
    : `${percent} likely to stay the winner if all ${panelSize} ${verb} asked.`;
}

function notNeeded({ savedUsd }: VerdictPoll, { left }: Facts): string | null {
  if (left === 0) return null;
  const saved = savedUsd !== undefined && savedUsd > 0 ? `, about ${dollars(savedUsd)} saved` : '';
  return `${left} not needed${saved}.`;
}

function failed({ failures, panelSize }: VerdictPoll): string | null {
  if (failures.length === 0) return null;
  return `${failures.length} of ${panelSize} models failed (${failuresByCause(failures)}).`;
}

/** How the panel stood at the end. Null if every model answered. */
function answered({ failures }: VerdictPoll, { cast }: Facts): string | null {
  if (failures.length === 0) return null;
  const asked = counted(cast + failures.length, 'asked model');
  return `${cast} of ${asked} answered; ${failures.length} did not (${failuresByCause(failures)}).`;
}

function notAsked(poll: VerdictPoll, { left }: Facts): string | null {
  return left === 0 ? null : `${whyNotAsked(poll)}: ${left} of ${poll.panelSize} models were not asked.`;
}

function whyNotAsked(poll: VerdictPoll): string {
  const { reason } = poll;
  if (reason === 'budget') return 'The limit was too low for another vote';
  if (reason === 'mathematical_lock') return 'Models left could not change the winner alone';
  return saysCanceled(poll) ? POLL_CANCELED : 'The poll ran out of time';
}

function unaffordable(poll: VerdictPoll, facts: Facts): string | null {
  const { reason, failures, limitUsd, cheapestVoteUsd } = poll;
  if (reason !== 'budget' || failures.length > 0) return notAsked(poll, facts);
  const limit = limitUsd === undefined ? 'The limit' : `A limit of ${dollars(limitUsd)}`;
  const cheapest = cheapestVoteUsd === undefined ? '' : ` (the cheapest may cost ${dollars(cheapestVoteUsd)})`;
  return `${limit} does not cover one vote${cheapest}.`;
}

function changeOf(poll: VerdictPoll, { kind, left }: Facts): string | null {
  const ahead = lead(poll.tally);
  switch (kind) {
    case 'final':
      return changeBySwitching(poll.tally);
    case 'kept':
    case 'leading':
      return ahead > left
        ? null
        : `At least ${ahead} of the ${counted(left, 'model')} left would have to agree on another option.`;
    case 'unsafe':
      return 'The missing votes could have changed the winner.';
    case 'tied':
    case 'level':
      return BREAKS_A_TIE;
    case 'unanswered':
    case 'waiting':
      return null;
  }
}

function adviceOf({ reason, failures }: VerdictPoll, { kind, left }: Facts): Advice[] {
  switch (kind) {
    case 'tied':
      return ['ask_strong_panel', 'rephrase'];
    case 'unsafe':
    case 'unanswered': {
      const outOfMoney = reason === 'budget' && left > 0;
      return [
        ...(outOfMoney ? ['raise_limit' as const] : []),
        ...(failures.length > 0 || !outOfMoney ? ['retry' as const] : []),
      ];
    }
    case 'final':
    case 'kept':
    case 'leading':
    case 'level':
    case 'waiting':
      return [];
  }
}
