import { FREE_PRESETS, type FreePreset, type Issue, type PanelName, PollRequest } from '@eloquentpoll/contracts';
import { optionIssues, questionIssues } from '../../http/validation/option-rules.ts';
import { issuesOf, refusal } from '../../http/validation/validator.ts';
import { DEFAULT_PROFILE, PROFILES, profileNamed } from './profiles.ts';
import { refuseDryRun } from './wants-dry-run.ts';

// A poll as it was ordered: aliases folded, defaults filled in, every rule checked. Whatever door a request came
// through (REST, a stream, MCP, A2A), this is the one reading of it, and nothing that it did not name gets further.

export interface PollOrder {
  question: string;
  options: string[];
  panel: PanelName;
  confidenceThreshold: number;
  maxCostU: number;
  /** What was said, where it is finer than micro-USD. */
  maxCostUsd?: number;
  /** Valid votes before confidence may stop the poll. */
  minVotes: number;
  search: boolean;
}

/** Whether the operator pays: open-weight models, and a cap on what all such polls of a day may cost. */
export const isFree = (panel: PanelName): panel is FreePreset => FREE_PRESETS.some((free) => free === panel);

export const MIN_VOTES = 3;

export function readPollOrder(body: unknown): PollOrder {
  refuseDryRun(body);
  const issues = pollIssues(body);
  if (issues.length > 0) throw refusal(issues);
  return toOrder(body as PollRequest);
}

/** Everything that is wrong with a request for a poll, in the words of its 400. */
export function pollIssues(body: unknown): Issue[] {
  const shape = issuesOf(PollRequest, body);
  if (shape.length > 0) return [...shape, ...(isObject(body) ? missingQuestion(body) : [])];
  const { question, prompt, options } = body as PollRequest;
  return [...whichQuestion(question, prompt), ...optionIssues(options), ...profileIssues(body as PollRequest)];
}

export function profileIssues({ profile }: Terms): Issue[] {
  if (profile === undefined || profileNamed(profile)) return [];
  const names = PROFILES.map(({ name }) => name).join(', ');
  return [{ pointer: '#/profile', detail: `profile must be one of ${names}` }];
}

function whichQuestion(question: string | undefined, prompt: string | undefined): Issue[] {
  if (question !== undefined && prompt !== undefined && question !== prompt) {
    return [{ pointer: '#/prompt', detail: 'prompt is an alias of question and must not differ from it' }];
  }
  const text = question ?? prompt;
  return text === undefined ? missingQuestion({}) : questionIssues(text);
}

/** The schema cannot say it: one of two names has to be there. */
const missingQuestion = (body: object): Issue[] =>
  'question' in body || 'prompt' in body ? [] : [{ pointer: '#/question', detail: 'question is required' }];

const isObject = (body: unknown): body is object => typeof body === 'object' && body !== null && !Array.isArray(body);

export function toOrder(request: PollRequest): PollOrder {
  return {
    question: request.question ?? request.prompt ?? '',
    options: request.options,
    ...termsOf(request),
    minVotes: MIN_VOTES,
    search: false,
  };
}

type Terms = Pick<PollRequest, 'preset' | 'confidence_threshold' | 'max_cost_usd' | 'profile'>;

/** With which models, how sure and how dear: as the request says, else its profile, else the default one. */
export function termsOf(request: Terms): Pick<PollOrder, 'panel' | 'confidenceThreshold' | 'maxCostU' | 'maxCostUsd'> {
  const profile = profileNamed(request.profile ?? DEFAULT_PROFILE)!;
  const maxCostUsd = request.max_cost_usd ?? profile.max_cost_usd;
  const maxCostU = microUsd(maxCostUsd);
  return {
    panel: request.preset ?? profile.preset,
    confidenceThreshold: request.confidence_threshold ?? profile.confidence_threshold,
    maxCostU,
    ...(maxCostU / 1_000_000 !== maxCostUsd && { maxCostUsd }),
  };
}

/** Rounds down, so that a poll never costs more than was allowed; the digits below come from binary fractions. */
const microUsd = (usd: number): number => Math.floor(Number((usd * 1_000_000).toFixed(3)));
