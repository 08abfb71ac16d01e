import { questionHash } from '../hashes.ts';
import { fails, holds, type PartState, unchecked } from '../part.ts';
import type { Statement } from '../receipt.ts';

interface PublishedOdds {
  readonly confidence?: number | null | undefined;
  readonly chances?: readonly number[] | undefined;
  readonly track_record?: { readonly audits: number; readonly same_leader: number } | undefined;
}

/** The part of a published result that a receipt covers. */
export interface PublishedResult extends PublishedOdds {
  readonly poll_id: string;
  readonly question: string | null;
  readonly options: readonly string[];
  readonly status: string;
  readonly winning_option: string | null;
  readonly is_tie: boolean;
  readonly confidence_threshold: number | null;
  readonly tally: Readonly<Record<string, number>>;
  readonly models_skipped: number;
  readonly simulated?: boolean | undefined;
  readonly termination_reason: string | null;
  readonly votes: readonly {
    readonly model_id: string;
    readonly chosen_option: string | null;
    readonly error: string | null;
  }[];
  readonly timing?: { readonly arrivals?: readonly PublishedOdds[] | undefined } | undefined;
}

/** Checks that the published result agrees with the receipt. */
export async function checkResult(statement: Statement, result: PublishedResult | null): Promise<PartState> {
  if (result === null) return unchecked('The published result is not at hand.');
  const { options, decision } = statement;
  if (result.poll_id !== statement.result_id) return fails('The receipt is of another result.');
  if ((await questionHash(result.question ?? '')) !== statement.question_sha256)
    return fails('It was another question.');
  if (JSON.stringify(result.options) !== JSON.stringify(options)) return fails('The options are others.');
  if (JSON.stringify(votesOf(result)) !== JSON.stringify(votesIn(statement))) return fails('The votes are others.');
  if (result.confidence_threshold !== statement.rule.threshold) return fails('It had another threshold.');
  if ((result.simulated ?? false) !== statement.simulated) return fails('One of them is of simulated models.');
  const winner = decision.winner === null ? null : options[decision.winner];
  const isSame =
    result.winning_option === winner &&
    result.is_tie === decision.tie &&
    result.status === decision.status &&
    options.every((option, i) => result.tally[option] === decision.tally[i]) &&
    result.models_skipped === decision.skipped &&
    (result.confidence ?? null) === decision.confidence &&
    result.termination_reason === decision.reason;
  if (!isSame) return fails('The published outcome is another.');
  if (!areIn(decision, result)) return fails('The published odds are others.');
  const wrong = (result.timing?.arrivals ?? []).findIndex((odds, i) => !areIn(statement.votes[i], odds));
  if (wrong >= 0) return fails(`The published odds after vote ${wrong + 1} are others.`);
  return holds('The published result says the same.');
}

type SignedOdds = Partial<Pick<Statement['decision'], 'confidence' | 'chances' | 'record'>>;

/**
 * Checks that published odds are the signed ones. Older results have fewer odds, because those of all options were not
 * kept.
 */
function areIn(signed: SignedOdds | undefined, { confidence, chances, track_record }: PublishedOdds): boolean {
  const isSigned = (published: unknown, given: unknown) =>
    published === undefined || JSON.stringify(published) === JSON.stringify(given);
  return (
    isSigned(confidence, signed?.confidence) &&
    isSigned(chances, signed?.chances) &&
    isSigned(countsOf(track_record), countsOf(signed?.record))
  );
}

const countsOf = (record: PublishedOdds['track_record']) => record && [record.audits, record.same_leader];

const votesOf = ({ votes }: PublishedResult) =>
  votes.map(({ model_id, chosen_option, error }) => [model_id, chosen_option, error]);

const votesIn = ({ options, panel, votes }: Statement) =>
  votes.map(({ seat, option, error }) => [panel[seat]?.model_id, option === null ? null : options[option], error]);
