import {
  type Issue,
  isJsonObject,
  PollRequest,
  type Preset,
  SERVICE_TIERS,
  type SessionRequest,
} from '@eloquentpoll/contracts';
import { minVotesOf, type PollOrder } from '@eloquentpoll/polls';
import { optionIssues, questionIssues } from '../../http/validation/option-rules.ts';
import { issuesOf, refusal } from '../../http/validation/validator.ts';
import { DEFAULT_PROFILE, PROFILES, profileNamed } from './profiles.ts';
import { LONG_FORM_ONLY, unsupportedIssues } from './unsupported-fields.ts';
import { refuseDryRun } from './wants-dry-run.ts';

// Turns the long form of a request into an order, for every entry point (REST, streams, MCP, A2A). Fields that the
// request schema does not name never reach the order.

export const readPollOrder = (body: unknown): PollOrder => readOrder(body, 'awaited');

/** Whether the caller waits for the poll to end. Only polls without a waiting caller may be flex: these end late. */
export type AskingCaller = 'awaited' | 'not_awaited';

export function readOrder(body: unknown, caller: AskingCaller): PollOrder {
  refuseDryRun(body);
  const issues = pollIssues(body, caller);
  if (issues.length > 0) throw refusal(issues);
  return toOrder(body as RunRequest);
}

/** Everything that is wrong with a request for a poll, as its 400 says it. */
export function pollIssues(body: unknown, caller: AskingCaller = 'not_awaited'): Issue[] {
  const shape = [...issuesOf(PollRequest, body), ...tierIssues(body, caller)];
  const unsupported = unsupportedIssues(body, LONG_FORM_ONLY);
  if (shape.length > 0) return [...shape, ...(isJsonObject(body) ? missingQuestion(body) : []), ...unsupported];
  const { question, prompt, options } = body as PollRequest;
  return [
    ...whichQuestion(question, prompt),
    ...optionIssues(options),
    ...profileIssues(body as PollRequest),
    ...panelIssues(body as PollRequest),
    ...unsupported,
  ];
}

const FLEX_HERE =
  'service_tier is standard where the answer is waited for; POST /api/polls and POST /api/batches take flex';

/** An unusable `service_tier` is refused: a caller who sends `flex` counts on its price. */
export function tierIssues(body: unknown, caller: 'awaited' | 'not_awaited'): Issue[] {
  const tier = isJsonObject(body) ? body.service_tier : undefined;
  const [pointer, known] = ['#/service_tier', SERVICE_TIERS.some((each) => each === tier)];
  if (tier === undefined || (known && (tier === 'standard' || caller === 'not_awaited'))) return [];
  return [{ pointer, detail: known ? FLEX_HERE : `service_tier must be one of ${SERVICE_TIERS.join(', ')}` }];
}

export function profileIssues({ profile }: Terms): Issue[] {
  if (profile === undefined || profileNamed(profile)) return [];
  const names = PROFILES.map(({ name }) => name).join(', ');
  return [{ pointer: '#/profile', detail: `profile must be one of ${names}` }];
}

/** A panel may be named in one of three ways only. Each of them overrides the preset of a profile. */
export function panelIssues({ preset, models, panel }: Terms): Issue[] {
  const named = Object.entries({ preset, models, panel }).flatMap(([field, value]) =>
    value === undefined ? [] : [field],
  );
  const [first, second] = named;
  if (second === undefined) return [];
  return [{ pointer: `#/${second}`, detail: `${second} and ${first} both name a panel; send one of them` }];
}

function whichQuestion(question: string | undefined, prompt: string | undefined): Issue[] {
  if (question !== undefined && prompt !== undefined && question !== prompt) {
    return [{ pointer: '#/prompt', detail: 'prompt is an alias of question and must not differ from it' }];
  }
  const text = question ?? prompt;
  return text === undefined ? missingQuestion({}) : questionIssues(text);
}

/** One of two names is required, which the schema cannot express. */
const missingQuestion = (body: object): Issue[] =>
  'question' in body || 'prompt' in body ? [] : [{ pointer: '#/question', detail: 'question is required' }];

export type RunRequest = PollRequest & Pick<SessionRequest, 'service_tier'>;

export function toOrder(request: RunRequest): PollOrder {
  const terms = termsOf(request);
  return {
    question: request.question ?? request.prompt ?? '',
    options: request.options,
    ...terms,
    min_votes: minVotesOf(terms.panel_name),
    search: false,
    ...(request.reasons && { reasons: true }),
    ...(request.service_tier === 'flex' && { service_tier: 'flex' as const }),
    ...metadataOf(request),
    ...expiryOf(request),
  };
}

/** Empty metadata counts as none, so that both requests match under one Idempotency-Key. */
export const metadataOf = ({ metadata }: Pick<PollRequest, 'metadata'>): Pick<PollOrder, 'metadata'> =>
  metadata && Object.keys(metadata).length > 0 ? { metadata } : {};

export const expiryOf = ({ expires_in }: Pick<PollRequest, 'expires_in'>): Pick<PollOrder, 'expires_in'> =>
  expires_in === undefined ? {} : { expires_in };

type Terms = Pick<PollRequest, 'preset' | 'models' | 'panel' | 'confidence_threshold' | 'max_cost_usd' | 'profile'>;

type OrderTerms = Pick<
  PollOrder,
  'panel_name' | 'models' | 'saved_panel' | 'confidence_threshold' | 'max_cost_u' | 'max_cost_usd'
>;

/** Panel, threshold and maximum cost: from the request, else from its profile, else from the default profile. */
export function termsOf(request: Terms): OrderTerms {
  const profile = profileNamed(request.profile ?? DEFAULT_PROFILE)!;
  const maxCostUsd = request.max_cost_usd ?? profile.max_cost_usd;
  const maxCostU = microUsdOf(maxCostUsd);
  return {
    ...panelTermsOf(request, profile.preset),
    confidence_threshold: request.confidence_threshold ?? profile.confidence_threshold,
    max_cost_u: maxCostU,
    ...(maxCostU / 1_000_000 !== maxCostUsd && { max_cost_usd: maxCostUsd }),
  };
}

function panelTermsOf({ preset, models, panel }: Terms, otherwise: Preset) {
  if (models !== undefined) return { panel_name: 'custom', models } as const;
  if (panel !== undefined) return { panel_name: 'custom', saved_panel: panel } as const;
  return { panel_name: preset ?? otherwise };
}

/** Rounds down, so that a poll never costs more than allowed. `toFixed` first removes binary rounding errors. */
export const microUsdOf = (usd: number): number => Math.floor(Number((usd * 1_000_000).toFixed(3)));
