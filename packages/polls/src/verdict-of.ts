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

/** What a verdict is made of: the same fields in the owner's response and in the public result. */
export interface Ended extends Pick<PollResponse, 'options' | 'tally' | 'models_skipped' | 'termination_reason'> {
  votes: readonly { chosen_option: string | null; error: string | null }[];
  confidence?: number | null;
}

/** What a response does not say beside its votes. */
interface Ending {
  /** Its caller canceled it. */
  isCanceled?: boolean;
}

/** Said to the owner of a poll alone. */
export type OwnersFigures = Pick<VerdictPoll, 'savedUsd' | 'limitUsd' | 'cheapestVoteUsd'>;

/** Read from the owner's response. */
export function ownersFigures(result: PollResponse): OwnersFigures {
  const valid = result.votes.filter(({ success }) => success);
  return {
    // What a free poll costs is the operator's.
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

/** The verdict's text with the options as JSON strings, for messages between agents. */
export const quotedVerdictOf = (result: PollResponse, ending: Ending): string =>
  quotedVerdictText(endedVerdict(result, { ...ownersFigures(result), ...ending }), result.options);

/** A poll that its rule had ended was canceled too late. */
export const wasCutShort = ({ termination_reason }: Pick<PollResponse, 'termination_reason'>, isCanceled: boolean) =>
  isCanceled && termination_reason === null;

/** With the headline in parts, for surfaces that set the texts of options apart. */
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

/** As it is sent and stored. */
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
