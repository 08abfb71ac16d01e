import { BYTES_PER_TOKEN } from './billing.ts';
import { costOf } from './price.ts';
import { asksRationale } from './prompt.ts';
import type { Model, Roster } from './roster-types.ts';
import { anyBallot, type BallotPaper, promptBytes } from './seats.ts';

// What a ballot usually costs, for estimates; the worst case in seats.ts is for holds. The prompt is known to the byte
// and only its tokens are guessed. What a model writes is guessed from what it is asked for: a label, a reason of at
// most 40 words, and the thoughts of a model that reasons at low effort.

/** The chat template around two short messages. */
const TEMPLATE_TOKENS = 20;
/** One label inside the JSON, the tool call or the line that carries it. */
const CHOICE_TOKENS = 12;
const RATIONALE_TOKENS = 50;
/** A choice between few options takes a model at low effort a few sentences of thought. */
const REASONING_TOKENS = 250;
/** Search results rarely fill the space that is reserved for them. */
const SEARCH_SHARE = 0.5;

/** In micro-USD, in the roster's own order; never more than the seat's reserve. */
export function typicalCostsFor(roster: Roster, paper: BallotPaper): bigint[] {
  const ballot = anyBallot(paper);
  return roster.models.map((model) => {
    const search = paper.search ? model.search : null;
    const found = Math.round((search?.extraInputTokens ?? 0) * SEARCH_SHARE);
    const words = Math.ceil(promptBytes(model, paper.style, ballot) / BYTES_PER_TOKEN);
    const input = words + TEMPLATE_TOKENS + found;
    return costOf(model.price, input, typicalOutput(model, paper)) + (search?.feeU ?? 0n);
  });
}

function typicalOutput(model: Model, { style }: BallotPaper): number {
  const reasons = model.reasoning === 'low' || model.reasoning === 'always';
  const tokens =
    CHOICE_TOKENS + (asksRationale(model, style) ? RATIONALE_TOKENS : 0) + (reasons ? REASONING_TOKENS : 0);
  return Math.min(tokens, model.maxOutputTokens);
}
