import { type Verdict, type VerdictPoll, verdict } from '@eloquentpoll/voting/verdict';

// What is known of a poll that is shown, running or ended. The page of a result makes it of what is stored, the view of a
// running poll of its events; everything that is drawn is drawn from it.

export interface SeenVote {
  readonly model: string;
  /** Null for a model that gave no vote. */
  readonly option: number | null;
  readonly error: string | null;
  readonly latencyMs: number;
}

/** How likely each option is to win, in their order, and a tie as the last, after so many votes. */
export interface Odds {
  readonly received: number;
  readonly chances: readonly number[];
}

/** Of results from before the odds of every option were kept: who led after so many votes, and how likely to stay. */
export interface LeadPoint {
  readonly received: number;
  readonly option: number;
  readonly confidence: number;
}

export interface PollPicture
  extends Pick<VerdictPoll, 'options' | 'tally' | 'panelSize' | 'hasEnded' | 'reason' | 'confidence'> {
  /** In order of arrival. Of a running poll those that were seen: the tally has all. */
  readonly votes: readonly SeenVote[];
  /** Votes that ended without an option. */
  readonly failed: number;
  readonly odds: readonly Odds[];
  readonly points: readonly LeadPoint[];
  readonly threshold: number | null;
  /** Models that are being asked; null where it is not known. */
  readonly asking: number | null;
}

type Figures = Pick<VerdictPoll, 'savedUsd' | 'limitUsd' | 'cheapestVoteUsd'>;

export function verdictOn(picture: PollPicture, figures: Figures = {}): Verdict {
  const seen = picture.votes.flatMap(({ option, error }) => (option === null ? [error ?? 'unknown'] : []));
  const unseen = Array.from({ length: Math.max(0, picture.failed - seen.length) }, () => 'unknown');
  const { options, tally, panelSize, hasEnded, reason, confidence } = picture;
  return verdict({
    options,
    tally,
    panelSize,
    hasEnded,
    reason,
    confidence,
    failures: [...seen, ...unseen],
    ...figures,
  });
}

export const receivedOf = ({ tally, failed }: Pick<PollPicture, 'tally' | 'failed'>): number =>
  tally.reduce((sum, count) => sum + count, failed);

/** Votes that came before the first one that was seen. */
export const unseenVotes = (picture: PollPicture): number => Math.max(0, receivedOf(picture) - picture.votes.length);

/** The vote that made it so many; null for none, and for one that was not seen. */
export const voteAt = (picture: PollPicture, received: number): SeenVote | null =>
  picture.votes[received - 1 - unseenVotes(picture)] ?? null;

/** Lines and colours that one can tell apart. */
export const MAX_COLOURS = 5;

/**
 * The colour of each option, as the class that has it. Of more options than colours, those that got votes first have
 * one; the others are grey.
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
