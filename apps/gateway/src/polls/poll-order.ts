import {
  FREE_PRESETS,
  type FreePreset,
  type Issue,
  LIMITS,
  PollRequest,
  type Preset,
  type RosterName,
} from '@eloquentpoll/contracts';
import { optionIssues, questionIssues } from '../validation/option-rules.ts';
import { issuesOf, refusal } from '../validation/validator.ts';

// A poll as it was ordered: aliases folded, defaults filled in, every rule checked. Whatever door a request came
// through (REST, a stream, MCP, A2A), this is the one reading of it, and nothing that it did not name gets further.

export interface PollOrder {
  question: string;
  options: string[];
  roster: RosterName;
  confidenceThreshold: number;
  maxCostU: number;
  /** Valid votes before confidence may stop the poll. */
  minVotes: number;
  search: boolean;
}

/** Whether the operator pays: open-weight models, and a cap on what all such polls of a day may cost. */
export const isFree = (roster: RosterName): roster is FreePreset => FREE_PRESETS.some((free) => free === roster);

const MIN_VOTES = 3;
const DEFAULT_PRESET: Preset = 'broad';

export function readPollOrder(body: unknown): PollOrder {
  const issues = pollIssues(body);
  if (issues.length > 0) throw refusal(issues);
  return toOrder(body as PollRequest);
}

/** Everything that is wrong with a request for a poll, in the words of its 400. */
export function pollIssues(body: unknown): Issue[] {
  const shape = issuesOf(PollRequest, body);
  if (shape.length > 0) return shape;
  const { question, prompt, options } = body as PollRequest;
  return [...whichQuestion(question, prompt), ...optionIssues(options)];
}

function whichQuestion(question: string | undefined, prompt: string | undefined): Issue[] {
  if (question !== undefined && prompt !== undefined && question !== prompt) {
    return [{ pointer: '#/prompt', detail: 'prompt is an alias of question and must not differ from it' }];
  }
  const text = question ?? prompt;
  return text === undefined ? [{ pointer: '#/question', detail: 'question is required' }] : questionIssues(text);
}

export function toOrder(request: PollRequest): PollOrder {
  const { threshold, cost } = { threshold: LIMITS.confidence_threshold, cost: LIMITS.max_cost_usd };
  return {
    question: request.question ?? request.prompt ?? '',
    options: request.options,
    roster: request.preset ?? DEFAULT_PRESET,
    confidenceThreshold: request.confidence_threshold ?? threshold.default,
    maxCostU: microUsd(request.max_cost_usd ?? cost.default),
    minVotes: MIN_VOTES,
    search: false,
  };
}

/** Rounds down, so that a poll never costs more than was allowed; the digits below come from binary fractions. */
const microUsd = (usd: number): number => Math.floor(Number((usd * 1_000_000).toFixed(3)));
