import type { PollResponse, Verdict } from '@eloquentpoll/contracts';
import {
  type Verdict as FullVerdict,
  quotedVerdictText,
  savedUsd,
  type VerdictPoll,
  verdict,
  verdictText,
} from '@eloquentpoll/voting/verdict';
import { isFree } from './panel-rules.ts';

/** The input of a verdict. The owner's response and the public result both have these fields. */
export interface Ended extends Pick<PollResponse, 'options' | 'tally' | 'models_skipped' | 'termination_reason'> {
  votes: readonly { chosen_option: string | null; error: string | null }[];
  confidence?: number | null;
}

/** What neither the response nor its votes contain. */
interface Ending {
  /** The caller canceled the poll. */
  isCanceled?: boolean;
}

/** Shown only to the poll's owner. */
export type OwnersFigures = Pick<VerdictPoll, 'savedUsd' | 'limitUsd' | 'cheapestVoteUsd'>;

/** Takes the figures from the owner's response. */
export function ownersFigures(result: PollResponse): OwnersFigures {
  const valid = result.votes.filter(({ success }) => success);
  return {
    // The cost of a free poll is paid by the operator.
    ...(!isFree(result.preset) && {
      savedUsd: savedUsd(
        valid.map(({ estimated_cost }) => estimated_cost),
        result.models_skipped,
      ),
    }),
    limitUsd: result.max_cost_usd,
    ...(result.min_cost_usd !== undefined && { cheapestVoteUsd: result.min_cost_usd }),
  };
}

/** The verdict's text with options as JSON strings, for messages between agents. */
export const quotedVerdictOf = (result: PollResponse, ending: Ending): string =>
  quotedVerdictText(endedVerdict(result, { ...ownersFigures(result), ...ending }), result.options);

/** False if a rule had already ended the poll when it was canceled. */
export const wasCutShort = ({ termination_reason }: Pick<PollResponse, 'termination_reason'>, isCanceled: boolean) =>
  isCanceled && termination_reason === null;

/** With the headline in parts, for surfaces that mark the texts of options. */
export function endedVerdict(
  result: Ended,
  { isCanceled = false, ...figures }: OwnersFigures & Ending = {},
): FullVerdict {
  const { options, tally, votes } = result;
  return verdict({
    options,
    tally: options.map((option) => (Object.hasOwn(tally, option) ? tally[option]! : 0)),
    panelSize: votes.length + result.models_skipped,
    failures: votes.flatMap(({ chosen_option, error }) => (chosen_option === null ? [error ?? 'unknown'] : [])),
    hasEnded: true,
    reason: result.termination_reason,
    isCanceled: wasCutShort(result, isCanceled),
    confidence: result.confidence ?? null,
    ...figures,
  });
}

/** The verdict as sent and stored. */
export function verdictOf(result: Ended, known: OwnersFigures & Ending = {}): Verdict {
  const full = endedVerdict(result, known);
  const { headline, band, likelyToStay } = full;
  return { kind: endedKind(full), headline, agreement: band, likely_to_stay: likelyToStay, text: verdictText(full) };
}

function endedKind({ kind }: FullVerdict): Verdict['kind'] {
  if (kind === 'leading' || kind === 'level' || kind === 'waiting')
    throw new TypeError(`a poll that has ended cannot be ${kind}`);
  return kind;
}
