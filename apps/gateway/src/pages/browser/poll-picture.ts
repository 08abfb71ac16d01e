import { type Verdict, type VerdictPoll, verdict } from '@eloquentpoll/voting/verdict';

// What a page shows of a poll, running or ended. The result page builds it from the stored result, the view of a
// running poll from its events; everything is drawn from it.

export interface SeenVote {
  readonly model: string;
  /** Null for a model that gave no vote. */
  readonly option: number | null;
  readonly error: string | null;
  readonly latencyMs: number;
}

/** The chance of each option to win after `received` votes, in the order of the options; the last one is for a tie. */
export interface Odds {
  readonly received: number;
  readonly chances: readonly number[];
}

/**
 * For results stored before the odds of every option were: the leader after some votes, and its chance to stay ahead.
 */
export interface LeadPoint {
  readonly received: number;
  readonly option: number;
  readonly confidence: number;
}

export interface PollPicture
  extends Pick<VerdictPoll, 'options' | 'tally' | 'panelSize' | 'hasEnded' | 'reason' | 'confidence' | 'isCanceled'> {
  /** In order of arrival. For a running poll only those whose events were seen; the tally counts all. */
  readonly votes: readonly SeenVote[];
  /** Votes that ended without an option. */
  readonly failed: number;
  readonly odds: readonly Odds[];
  readonly points: readonly LeadPoint[];
  readonly threshold: number | null;
  /** Number of models being asked; null if unknown. */
  readonly asking: number | null;
}

type Figures = Pick<VerdictPoll, 'savedUsd' | 'limitUsd' | 'cheapestVoteUsd'>;

export function verdictOn(picture: PollPicture, figures: Figures = {}): Verdict {
  const seen = picture.votes.flatMap(({ option, error }) => (option === null ? [error ?? 'unknown'] : []));
  const unseen = Array.from({ length: Math.max(0, picture.failed - seen.length) }, () => 'unknown');
  const { options, tally, panelSize, hasEnded, reason, confidence, isCanceled } = picture;
  return verdict({
    options,
    tally,
    panelSize,
    hasEnded,
    reason,
    confidence,
    failures: [...seen, ...unseen],
    ...(isCanceled && { isCanceled }),
    ...figures,
  });
}

export const receivedOf = ({ tally, failed }: Pick<PollPicture, 'tally' | 'failed'>): number =>
  tally.reduce((sum, count) => sum + count, failed);

/** Votes that arrived before the first one that was seen. */
export const unseenVotes = (picture: PollPicture): number => Math.max(0, receivedOf(picture) - picture.votes.length);

/** The vote that raised the count to `received`; null for none, or if it was not seen. */
export const voteAt = (picture: PollPicture, received: number): SeenVote | null =>
  picture.votes[received - 1 - unseenVotes(picture)] ?? null;

/** More colours could not be told apart. */
export const MAX_COLOURS = 5;

/**
 * The colour class of each option. If there are more options than colours, the options that got votes first have a
 * colour and the others are grey.
 */
export function colourClasses({ options, tally, votes }: Pick<PollPicture, 'options' | 'tally' | 'votes'>): string[] {
  const all = [...options.keys()];
  if (options.length <= MAX_COLOURS) return all.map((option) => `colour-${option}`);
  const arrived = votes.flatMap(({ option }) => (option === null ? [] : [option]));
  const order = [...new Set([...arrived, ...all.toSorted((a, b) => tally[b]! - tally[a]!)])];
  return all.map((option) => {
    const place = order.indexOf(option);
    return place < MAX_COLOURS ? `colour-${place}` : 'colour-other';
  });
}
