import { MAX_FAILURE_RATE } from '@eloquentpoll/voting/failure-rate';
import { fails, holds, type PartState } from '../part.ts';
import type { Statement } from '../receipt.ts';

/** Checks that votes are from models of the panel, at most one each, and for options of the poll. */
export function checkPanel({ options, panel, votes }: Statement): PartState {
  if (options.length < 2 || new Set(options).size < options.length)
    return fails('The options are not two or more different ones.');
  if (panel.length === 0) return fails('The panel has no models.');
  if (new Set(panel.map(({ model_id }) => model_id)).size < panel.length)
    return fails('A model is in the panel twice.');
  if (panel.some(({ failure_rate }) => failure_rate > MAX_FAILURE_RATE))
    return fails(`A failure rate is above ${MAX_FAILURE_RATE}, the highest that the rules use.`);
  if (votes.some(({ seat }) => seat >= panel.length)) return fails('A vote is of no model of the panel.');
  if (new Set(votes.map(({ seat }) => seat)).size < votes.length) return fails('A model voted twice.');
  const odd = votes.find(({ option, error }) => (option === null) === (error === null));
  if (odd) return fails(`${panel[odd.seat]!.model_id} has both a vote and an error, or neither.`);
  if (votes.some(({ option }) => option !== null && option >= options.length))
    return fails('A vote is for no option of the poll.');
  return holds(`${panel.length} models in their order, ${votes.length} of them heard once each.`);
}
