// EloquentPoll in one file: copy it into a project and import it. It needs `fetch` and nothing else, runs in Node 22.18+,
// Deno, Bun and (bundled) browsers, and contains only types that can be stripped. Guarantees:
// - Every call settles: with an answer, with an `EloquentPollError`, or with the reason of its `AbortSignal`.
// - A poll runs once, however often its request is retried: each call has its own Idempotency-Key.
// - A call that is not idempotent is retried only if the service refused it.
// - Calls wait if a rate limit of the service (`RateLimit-*`) is used up and resets soon.
//
//   const polls = new EloquentPoll({ apiKey: '…' });
//   const { outcome, confidence } = await polls.ask({ question: 'Which is larger?', options: ['The Sun', 'The Moon'] });

/** The service that this file was downloaded from. */
export const BASE_URL = 'http://localhost:8080';

// ---------------------------------------------------------------------------------------------------------- shapes

export type Preset = 'broad' | 'fast' | 'strong';
export type FreeTheme = 'free' | 'free_search';
/** The panel of a poll. `custom`: models that the caller named. */
export type PanelName = Preset | FreeTheme | 'custom';
export type QuickTheme = Preset | 'search' | FreeTheme;
export type ResultStatus = 'success' | 'partial' | 'failed';
export type SessionState = 'running' | 'completed' | 'failed';
export type TerminationReason = 'mathematical_lock' | 'confidence' | 'budget' | 'roster_exhausted';
export type VoteError =
  | 'timeout'
  | 'refusal'
  | 'invalid_choice'
  | 'malformed'
  | 'rate_limited'
  | 'provider_error'
  | 'aborted';

/** A poll to run. */
export interface PollRequest {
  /** At least 10 characters. */
  question: string;
  /** 2 to 10 different options of at most 200 characters each. */
  options: string[];
  preset?: Preset;
  /** 3 to 15 model ids, instead of a preset. */
  models?: string[];
  /** The name of a saved panel, instead of a preset. */
  panel?: string;
  /** 0 to 1: how certain the outcome must be before the poll stops early. Default: 0.95. */
  confidence_threshold?: number;
  /** The maximum cost of the poll, which is never exceeded. Default: 1. */
  max_cost_usd?: number;
  /** Ask each model for one sentence with its vote. */
  reasons?: boolean;
  /** Your own labels, to find polls by: at most 16 pairs, keys up to 64 and values up to 512 characters. */
  metadata?: Record<string, string>;
  /** For `begin` only. `flex`: cheaper, runs only while no other poll waits, and ends within 24 hours. */
  service_tier?: 'standard' | 'flex';
  /** Seconds after which the poll and its result are deleted. At most the service's own retention. */
  expires_in?: number;
  /** For sessions and streams: an address that is notified of the end by a webhook. */
  webhook_url?: string;
}

/** A signed statement about a poll: a JWS in flattened JSON. `eloquentpoll verify` recomputes everything in it. */
export interface ResultReceipt {
  /** The statement: canonical JSON in base64url. */
  payload: string;
  protected: string;
  signature: string;
  /** Null until the UTC day of the poll is sealed. */
  proof: ReceiptProof | null;
  /** Only for the poll's owner, in micro-USD. */
  price?: {
    nonce: string;
    max_cost_u: number;
    reserves_u: number[];
    votes: { billed_u: number; fault_u: number }[];
  };
}

/** The place of a receipt in the Merkle tree of its day. */
export interface ReceiptProof {
  day: string;
  receipts: number;
  index: number;
  path: string[];
  root: string;
  previous_seal: string | null;
  seal: string;
}

export interface ReceiptDays {
  days: { day: string; receipts: number; root: string; seal: string }[];
}

/** The public keys that sign receipts, as a JWK set. */
export interface ReceiptKeys {
  keys: { kty: 'OKP'; crv: 'Ed25519'; x: string; kid: string; use: 'sig'; alg: 'EdDSA' }[];
}

export interface Vote {
  model_id: string;
  success: boolean;
  chosen_option: string | null;
  transition: 'vote';
  latency_ms: number;
  estimated_cost: number;
  error: VoteError | null;
  /** One sentence by the model, if `reasons` were asked for. Untrusted text. */
  reason?: string | null;
}

export interface Timing {
  gather_ms: number;
  total_ms: number;
  /** When each vote arrived, and how likely each outcome was then. */
  arrivals?: { at_ms: number; confidence: number | null; chances?: number[]; track_record?: StoodAlike }[];
}

/** Audited polls in a similar state, and how many of them the leader of that time won. */
export interface StoodAlike {
  audits: number;
  same_leader: number;
}

/** How the poll was asked, if its panel has a track record. */
export interface AskedByRecord {
  order: 'cheapest' | 'shuffled';
  roster_version: string;
  /** Only a lock could stop the poll, not confidence. */
  lock_only: boolean;
}

/** The outcome of a poll in words for people. */
export interface Verdict {
  kind: 'final' | 'kept' | 'tied' | 'unsafe' | 'unanswered';
  headline: string;
  /** How clear the result is, by the number of votes that would have to switch to change the winner. */
  agreement: 'unanimous' | 'broad' | 'clear' | 'split' | 'tied' | null;
  /**
   * Probability that the winner stays the same if all models are asked; null if the winner is final or the probability
   * unknown.
   */
  likely_to_stay: number | null;
  /** The headline with its details and their meaning. */
  text: string;
}

/** The panel at the end of the poll. */
export interface PanelStanding {
  /** Number of models that were asked and had until the end to answer. */
  asked: number;
  /** Number of models that gave a valid vote. */
  heard: number;
  missing: { model_id: string; error: VoteError }[];
  vendors_heard: number;
  /** How many independent votes the votes are worth. Null until enough is known about the models. */
  effective_votes: number | null;
  slowest_heard_ms: number | null;
}

/** A second opinion, with each vote weighted by how reliable its model is. It never changes the winner. */
export interface Reading {
  winner: string | null;
  /** It prefers another option than the plurality, or prefers one in a tie. */
  differs: boolean;
  /** The probability that each option is right, if models erred independently. They do not quite. */
  likelihood: number | null;
  version: string;
}

/** A finished poll as shown to its owner. */
export interface PollResponse {
  /** Anyone who knows it can read the public result. */
  poll_id: string;
  status: ResultStatus;
  /** The text of the winning option, `tie` or `no_votes`. */
  outcome: string;
  question: string;
  options: string[];
  poll_type: 'fptp';
  winning_option: string | null;
  is_tie: boolean;
  confidence_threshold: number;
  max_cost_usd: number;
  early_terminated: boolean;
  termination_reason: TerminationReason | null;
  models_skipped: number;
  tally: Record<string, number>;
  votes: Vote[];
  timing: Timing;
  costs: { total_estimated_cost: number; failed_calls_cost?: number };
  /** Missing if a provider did not count its tokens. */
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  /** Probability that the full panel elects this winner; null for a tie and without votes. */
  confidence: number | null;
  /** The probability that each of `options` wins. The last one is that of a tie. */
  chances?: number[];
  track_record?: StoodAlike;
  asking?: AskedByRecord;
  verdict?: Verdict;
  panel?: PanelStanding;
  /** Missing until enough is known about the models. */
  reading?: Reading;
  /** Why no model could be asked. */
  code?: 'budget_too_small' | 'poll_canceled';
  /** With `code`: the smallest `max_cost_usd` that pays for a vote. */
  min_cost_usd?: number;
  /** `custom` if the caller named the models. */
  preset: PanelName;
  /** The name of the saved panel, if the poll used one. */
  saved_panel?: string;
  simulated: boolean;
  /** When the poll is deleted. */
  expires_at?: string;
}

/** A result as shown to anyone who knows its id. */
export interface ResultDetail {
  poll_id: string;
  status: ResultStatus;
  question: string | null;
  options: string[];
  poll_type: string;
  winning_option: string | null;
  is_tie: boolean;
  confidence_threshold: number | null;
  max_cost_usd: number | null;
  early_terminated: boolean;
  termination_reason: TerminationReason | null;
  models_skipped: number;
  tally: Record<string, number>;
  votes: Omit<Vote, 'estimated_cost'>[];
  models_requested: number;
  models_succeeded: number;
  models_failed: number;
  timing: Timing;
  created_at: string;
  confidence?: number | null;
  chances?: number[];
  track_record?: StoodAlike;
  asking?: AskedByRecord;
  verdict?: Verdict;
  panel?: PanelStanding;
  reading?: Reading;
  preset?: string;
  simulated?: boolean;
  /** When the poll is deleted. */
  expires_at?: string;
}

export interface RecentResult {
  resultId: string;
  pollType: string;
  winningOption: string | null;
  isTie: boolean;
  modelsRequested: number;
  modelsSucceeded: number;
  createdAt: string;
}

export interface HistoryResult extends RecentResult {
  status: ResultStatus;
  /** In US dollars, as a decimal. */
  totalCostUsd: string;
  totalMs: number | null;
  /** When the poll is deleted. */
  expiresAt?: string | null;
}

export interface Progress {
  received: number;
  succeeded: number;
  failed: number;
  /** Number of models in the panel. */
  total: number;
}

export interface SessionStatus {
  session_id: string;
  status: SessionState;
  result_id: string | null;
  progress?: Progress;
  /** With `include: 'result'`, after the poll has ended. */
  result?: PollResponse;
  failure?: { code: string; error: string };
}

/** A poll in its account's list. */
export interface ListedPoll {
  session_id: string;
  status: SessionState;
  result_id: string | null;
  question: string;
  preset: PanelName;
  service_tier: 'standard' | 'flex';
  metadata: Record<string, string>;
  /** The API key that submitted the poll; null for a login. */
  key_id: string | null;
  winning_option: string | null;
  is_tie: boolean;
  /** A tie, a lead that one switched vote would end, or an outcome that missing votes could have changed. */
  is_close: boolean;
  cost_usd: number | null;
  created_at: string;
  ended_at: string | null;
  /** When the poll is deleted. */
  expires_at: string | null;
}

export interface PollList {
  /** Newest first. */
  polls: ListedPoll[];
  /** True if there are more pages. This page may be short or empty all the same if few polls match the filters. */
  has_more: boolean;
  /** Leads to the page of older polls. Null if there is none. */
  after: string | null;
  /** Leads to the page of newer polls. Null if there is none. */
  before: string | null;
}

export interface PollDeleted {
  deleted: boolean;
  session_id: string;
}

export interface PollListQuery {
  limit?: number;
  /** A session id. Selects older polls. */
  after?: string;
  /** A session id. Selects newer polls. */
  before?: string;
  status?: SessionState;
  created_after?: string;
  created_before?: string;
  preset?: PanelName;
  key_id?: string;
  close?: boolean;
  metadata?: Record<string, string>;
}

export interface SessionStatuses {
  polls: SessionStatus[];
  /** Ids of polls that the account does not have. */
  not_found: string[];
}

// Batches: many polls in one call, which the service runs within a day.

/** A poll of a batch. */
export interface BatchRow extends PollRequest {
  /** Your own id for the row, unique in the batch. Default: its line number. */
  custom_id?: string;
  /** The right answer, if you know it: the text of one of the options. */
  gold?: string;
}

/** Rows as values, or a file of JSON lines or of CSV with a header. */
export type BatchRows = Iterable<BatchRow> | AsyncIterable<BatchRow> | Blob;

/** Settings of a whole batch. */
export interface BatchTerms {
  preset?: Preset;
  confidence_threshold?: number;
  reasons?: boolean;
  /** The maximum cost of the whole batch. Rows that it does not cover are not run. */
  max_cost_usd?: number;
  metadata?: Record<string, string>;
  /** An address that is notified of the batch's end by a webhook. */
  webhook_url?: string;
  /** Skip invalid rows instead of refusing the batch. */
  skip_invalid?: boolean;
}

export type BatchStatus = 'running' | 'canceling' | 'completed' | 'canceled' | 'expired';
export type BatchOutcome = 'success' | 'partial' | 'failed' | 'canceled' | 'not_run';
/** `uncovered`: what was left of max_cost_usd, of the reservation or of the balance did not cover the next row. */
export type NotRunReason = 'canceled' | 'expired' | 'uncovered';

/** What is wrong with a row. */
export interface BatchRowError {
  /** Line number in the file, or number of the row. Both start at 1. */
  line: number;
  custom_id: string | null;
  /** Such as `options[1]`; null if the row as a whole is wrong. */
  field: string | null;
  message: string;
}

export interface Batch {
  batch_id: string;
  status: BatchStatus;
  service_tier: 'flex';
  counts: { total: number; waiting: number; running: number } & Record<BatchOutcome, number>;
  /** Why rows were not run. Null if all rows were run, and until the batch has ended. */
  not_run_reason: NotRunReason | null;
  skipped: { count: number; first: BatchRowError[] };
  /** Whether any row contains its right answer. */
  has_gold: boolean;
  /** What the polls of the batch have cost so far. */
  cost_usd: number;
  /** The amount set aside for waiting rows. Running polls have holds in addition. */
  reserved_usd: number;
  max_cost_usd: number | null;
  metadata: Record<string, string>;
  created_at: string;
  /** Rows that have not started by then are not run. */
  expires_at: string;
  ended_at: string | null;
  status_url: string;
  results_url: string;
  report_url: string | null;
}

/** The result of a row. */
export interface BatchResult {
  custom_id: string;
  line: number;
  status: BatchOutcome;
  /** Why the row was not run; null if it was. */
  not_run_reason: NotRunReason | null;
  session_id: string | null;
  result: PollResponse | null;
  error: { code: string; error: string } | null;
  gold: string | null;
  /** Null without `gold` or without an answer. */
  is_right: boolean | null;
}

/** `count` out of `of`, with the exact 95% interval. Null without rows. */
export interface MeasuredShare {
  count: number;
  of: number;
  share: number | null;
  low: number | null;
  high: number | null;
}

/** A mean and its 95% interval; null if there are too few rows. */
export interface MeasuredMean {
  mean: number | null;
  low: number | null;
  high: number | null;
}

/** Right answers among polls with figures from `from` to `to`, and the mean of these figures. */
export interface ReportBand {
  from: number;
  to: number;
  said: number;
  right: MeasuredShare;
}

export interface PublishedBand {
  from: number;
  to: number;
  polls: number;
  said: number;
  came_true: number;
  low: number | null;
  high: number | null;
  /** Pooled from neighboring bands that had too few polls each. */
  pooled: boolean;
}

/** How often a panel was right, and its cost. */
export interface PanelFigures {
  /** Rows whose poll ended with a result. A tie, or a poll without a valid vote, counts as wrong. */
  polls: number;
  accuracy: MeasuredShare;
  no_answer: number;
  agreement: MeasuredMean;
  cost_usd: number;
  cost_per_right_usd: MeasuredMean;
  calls: number;
  panel_calls: number;
  calls_saved: number | null;
  /** `from` and `to` are 1 if no further vote could change the winner. */
  by_confidence: ReportBand[];
  by_agreement: ReportBand[];
}

/** Stated confidence compared with how often the full panel elected the same winner. */
export interface BatchCalibration {
  polls: number;
  unknown: number;
  states: number;
  error: number | null;
  brier: number | null;
  bands: PublishedBand[];
}

/** The difference between two accuracies, poll by poll. */
export interface PairedDifference {
  gained: number;
  lost: number;
  mean: number | null;
  low: number | null;
  high: number | null;
}

/** The results of another threshold, replayed from the votes. Null if votes that were not asked would be needed. */
export interface BatchThreshold {
  /** Null means as the polls were asked. */
  confidence_threshold: number | null;
  unknown: number;
  accuracy: MeasuredShare | null;
  cost_usd: number | null;
  cost_per_right_usd: MeasuredMean | null;
  calls_saved: number | null;
  cost_saved: number | null;
  stopped_early: MeasuredShare | null;
  wrong_stops: {
    wrong: number;
    judged: number;
    of: number;
    share: number | null;
    low: number | null;
    high: number | null;
  } | null;
  panel_agreement: MeasuredShare | null;
  /** Compared with the same polls as they were asked. */
  difference: PairedDifference | null;
  /** These polls as they were asked; present if polls of `order_unknown` are left out. */
  as_asked?: { accuracy: MeasuredShare; cost_usd: number };
}

/** How one model alone would have done. */
export interface BatchModel {
  model_id: string;
  polls: number;
  asked: number;
  accuracy: MeasuredShare;
  /** The accuracy of the panel on the same polls. */
  panel_accuracy: MeasuredShare;
  difference: PairedDifference;
  agreement: MeasuredShare;
  cost_usd: number;
  cost_per_right_usd: MeasuredMean;
}

export interface BatchReportPanel extends PanelFigures {
  preset: PanelName;
  confidence_threshold: { min: number; max: number };
  /** Polls whose order of votes is unknown. They count only in the first entry of `thresholds`. */
  order_unknown?: number;
  calibration: BatchCalibration;
  /** Most accurate first. */
  models: BatchModel[];
  /** As run, then other thresholds from low to high. */
  thresholds: BatchThreshold[];
}

/** The answers of a batch, compared with the right answers in its rows. */
export interface BatchReport extends PanelFigures {
  batch_id: string;
  /** False while rows are still running or being counted. */
  complete: boolean;
  rows: { total: number; counted: number; judged: number; without_gold: number; not_judged: number };
  simulated: boolean;
  /** By preset, the one with the most polls first. */
  panels: BatchReportPanel[];
  recommendation: {
    kind: 'change' | 'keep' | 'more_rows';
    preset: PanelName | null;
    confidence_threshold: number | null;
    /** The saving as a share of what the polls of this preset cost as they were asked. */
    cost_saved: number | null;
    /** The recommendation in words, with the figures behind it. */
    sentences: string[];
  };
  counted_at: string;
}

export interface BatchList {
  /** Newest first. */
  batches: Batch[];
  has_more: boolean;
  /** Leads to the page of older batches. Null if there is none. */
  after: string | null;
  /** Leads to the page of newer batches. Null if there is none. */
  before: string | null;
}

export interface BatchDeleted {
  batch_id: string;
  deleted: boolean;
}

export interface BatchListQuery {
  limit?: number;
  /** A batch id. Selects older batches. */
  after?: string;
  before?: string;
  status?: BatchStatus;
}

/** A question in a short form. `poll` is like `Which is larger? [A, B]`. */
export interface QuickRequest {
  question?: string;
  options?: string[];
  poll?: string;
  theme?: QuickTheme;
  confidence_threshold?: number;
  max_cost_usd?: number;
  models?: string[];
  panel?: string;
  reasons?: boolean;
  /** Needs a key. */
  metadata?: Record<string, string>;
  /** Seconds after which the poll and its result are deleted. */
  expires_in?: number;
}

export interface QuickResult {
  question: string;
  options: string[];
  answer: string | null;
  reasoning: string;
  cost: number;
  theme?: string;
  /** `partial`: missing votes could have changed the outcome. */
  status?: ResultStatus;
  poll_id?: string;
  result_url?: string;
  /** The result as a page for people. */
  page_url?: string;
  panel?: PanelStanding;
  options_source?: 'caller' | 'server';
}

export interface Estimate {
  preset: PanelName;
  options: number;
  poll_type: 'fptp';
  confidence_threshold: number;
  currency: 'USD';
  models: { roster_size: number; min_calls: number; expected_calls: number; max_calls: number };
  cost_usd: { min: number; expected: number; max: number };
  latency_ms: { p50: number; p95: number };
  early_termination: { probability: number; likely_reason: TerminationReason };
  basis: 'recent_polls' | 'catalog_prices';
  sample_size: number;
  generated_at: string;
}

export interface DryRun {
  dry_run: boolean;
  valid: boolean;
  /** The reasons why a poll with this body would be refused. */
  errors: string[];
  /** The same reasons, each with a JSON pointer to its field. */
  issues: { pointer: string; detail: string }[];
  /** Possible mistakes that are not errors, such as options that look alike. */
  warnings: string[];
  estimates: Partial<
    Estimate & {
      max_cost_usd: number;
      within_budget: boolean;
      /** The lowest `max_cost_usd` that covers one vote. */
      min_cost_usd: number;
      balance_sufficient: boolean;
      estimated_cost_usd: number;
      estimated_models_invoked: number;
      total_models: number;
      estimated_latency_ms: number;
    }
  >;
}

export interface Profiles {
  default: string;
  count: number;
  profiles: {
    name: string;
    description: string;
    preset: Preset;
    confidence_threshold: number;
    max_cost_usd: number;
  }[];
}

export interface Feedback {
  poll_id: string;
  outcome_correct?: boolean | null;
  confidence?: number | null;
  notes?: string | null;
}

export interface FeedbackReceipt {
  feedback_id: string;
  poll_id: string;
  recorded: boolean;
}

export interface ApiKey {
  id: string;
  key_prefix: string;
  label: string;
  expires_at: string | null;
  /** Whether the key can only read, and neither run polls nor change anything. */
  read_only: boolean;
  /** The maximum that polls of the key may be charged per period; null if there is no limit. */
  limit_usd: number | null;
  limit_reset: 'never' | 'daily' | 'monthly';
  /** Charged in the limit's current period, and set aside for running polls. */
  spent_usd: number | null;
  held_usd: number | null;
  resets_at: string | null;
  spent_today_usd: number;
  spent_month_usd: number;
  last_used_at: string | null;
  revoked_at: string | null;
  created_at: string;
}

export interface NewApiKey {
  id: string;
  /** The whole key. It is shown only once. */
  key: string;
  key_prefix: string;
  label: string;
  expires_at: string | null;
  /** Whether the key can only read, and neither run polls nor change anything. */
  read_only: boolean;
  /** The maximum that polls of the key may be charged per period; null if there is no limit. */
  limit_usd: number | null;
  limit_reset: 'never' | 'daily' | 'monthly';
  /** Charged in the limit's current period, and set aside for running polls. */
  spent_usd: number | null;
  held_usd: number | null;
  resets_at: string | null;
  created_at: string;
  warning: string;
}

/** What a key may do. Fields that a change omits stay unchanged. */
export interface KeyTerms {
  label?: string;
  expires_at?: string;
  /** Whether the key can only read, and neither run polls nor change anything. */
  read_only?: boolean;
  /** The maximum that polls of the key may be charged per period. */
  limit_usd?: number;
  /** Resets at midnight UTC, daily or on the first day of a month. */
  limit_reset?: 'never' | 'daily' | 'monthly';
}

export interface KeyChange extends Omit<KeyTerms, 'expires_at' | 'limit_usd'> {
  expires_at?: string | null;
  limit_usd?: number | null;
}

export interface UsageFigures {
  /** Polls that ended, with any status. */
  polls: number;
  completed: number;
  failed: number;
  canceled: number;
  split_or_partial: number;
  cost_usd: number;
  /** An estimate of what was saved by stopping early. */
  saved_usd: number;
  median_ms: number | null;
  median_cost_usd: number | null;
}

export interface UsageGroup extends UsageFigures {
  /** A day, the id of a key, a preset, a surface, or a value of a label. */
  group: string;
  /** The label of a key. */
  label?: string;
}

export interface UsageReport {
  from: string;
  /** The last day, inclusive. */
  to: string;
  group_by: string;
  /** Days in order of time; other groups by cost, the highest first. */
  groups: UsageGroup[];
  total: UsageFigures;
  /** The same for the same number of days before. */
  previous: UsageFigures & { from: string; to: string };
}

export interface UsageQuery {
  /** `day` (the default), `key`, `preset`, `surface`, or `metadata.` and the name of a label. */
  group_by?: string;
  /** UTC days. Default: the last 30. */
  from?: string;
  to?: string;
  key_id?: string;
  preset?: PanelName;
  surface?: string;
}

/** A part of an account's data, with its type. Skip types that you do not know. */
export interface ExportLine {
  type: string;
  [field: string]: unknown;
}

/** Exact to the micro-USD, with the limit of the key that is used. */
export interface UsageBalance {
  available_usd: number;
  reserved_usd: number;
  used_usd: number;
  low_balance_usd: number | null;
  is_low: boolean;
  key: {
    limit_usd: number;
    limit_reset: 'never' | 'daily' | 'monthly';
    spent_usd: number;
    held_usd: number;
    /** The maximum that the next poll of the key may cost. */
    left_usd: number;
    resets_at: string | null;
  } | null;
}

export interface Balance {
  balance_cents: number;
  balance: string;
  usage_cents: number;
  /** The part of the balance that polls cannot use until a card payment has settled. */
  held_back_cents?: number;
}

export type WebhookEventType =
  | 'poll.completed'
  | 'poll.failed'
  | 'batch.completed'
  | 'balance.low'
  | 'key.limit_reached'
  | 'endpoint.disabled';

/** An address to which the service sends events. */
export interface WebhookEndpointRequest {
  /** An https address on port 443 or 8443. */
  url: string;
  /** Default: all event types. */
  event_types?: WebhookEventType[];
  description?: string;
}

export interface WebhookEndpointChange extends Partial<WebhookEndpointRequest> {
  /** `disabled` drops waiting deliveries; `enabled` sends new events again. */
  status?: 'enabled' | 'disabled';
}

export interface WebhookEndpoint {
  endpoint_id: string;
  /** Null for the endpoint that represents every `webhook_url`. */
  url: string | null;
  event_types: WebhookEventType[];
  description: string;
  status: 'enabled' | 'disabled';
  /** `owner`: you disabled it; `gone`: it answered 410; `failing`: all deliveries failed for three days. */
  disabled_reason: 'owner' | 'gone' | 'failing' | null;
  disabled_at: string | null;
  failing_since: string | null;
  pending: number;
  skipped: number;
  previous_secret_until: string | null;
  created_at: string;
}

export interface NewWebhookEndpoint extends WebhookEndpoint {
  /** The secret for `verifyWebhook`. */
  secret: string;
}

export interface WebhookSecret {
  endpoint_id: string;
  secret: string;
  /** Until then, messages are also signed with the previous secret. */
  previous_secret_until: string | null;
}

export interface WebhookDelivery {
  delivery_id: string;
  /** The `webhook-id` of its messages, the same in every attempt. */
  event_id: string;
  type: string;
  url: string;
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  /** Newest last. */
  last_attempts: { at: string; http_status: number | null; error: WebhookError | null; took_ms: number }[];
  next_attempt_at: string | null;
  created_at: string;
  ended_at: string | null;
  data: Record<string, unknown>;
}

/** Why there was no answer from the receiver. */
export type WebhookError =
  | 'name_not_resolved'
  | 'address_refused'
  | 'connection_failed'
  | 'tls_failed'
  | 'timed_out'
  | 'bad_answer';

export interface WebhookDeliveryList {
  /** Newest first. */
  deliveries: WebhookDelivery[];
  after: string | null;
}

export interface WebhookDeliveryQuery {
  limit?: number;
  after?: string;
  status?: 'pending' | 'delivered' | 'failed';
}

/** The current state of a running poll. Each event is complete, so missed ones do not matter. */
export interface StreamProgress {
  /** Increases with every event of a session. */
  seq: number;
  session_id: string;
  phase: 'started' | 'voting';
  models_requested: number;
  progress: Progress;
  tally: Record<string, number>;
  /** The leading option. Null on a tie and before the first vote. */
  leader: string | null;
  confidence: number | null;
  /** The probability that each of `options` wins. The last one is that of a tie. */
  chances?: number[];
  track_record?: StoodAlike;
  /** Number of models that were asked and have not answered. */
  asking?: number;
  /** The vote that caused this event. */
  vote: Vote | null;
  elapsed_ms: number;
  // The poll itself: sent once, at the start of each connection.
  question?: string;
  options?: string[];
  poll_type?: 'fptp';
  preset?: PanelName;
  confidence_threshold?: number;
  max_cost_usd?: number;
  status_url?: string;
  result_url?: string;
  page_url?: string;
  started_at?: string;
}

/** The result and the ids of its poll. For a quick poll, also the fields of its short answer. */
export interface StreamEnd
  extends PollResponse,
    Partial<Omit<QuickResult, 'question' | 'options' | 'status' | 'poll_id'>> {
  session_id: string;
  seq: number;
}

export type StreamEvent =
  | { event: 'started'; id: string; data: StreamProgress }
  | { event: 'complete'; id: string; data: StreamEnd };

// ---------------------------------------------------------------------------------------------------------- errors

/** What to do about an error. */
export interface Recovery {
  action:
    | 're_authenticate'
    | 'add_funds'
    | 'open_account'
    | 'back_off'
    | 'ask_again'
    | 'open_documentation'
    | 'use_free_poll';
  description: string;
  method?: string;
  url?: string;
  after_seconds?: number;
}

/**
 * Codes of this client. All others come from the service and are listed at /api/errors/catalog. `bad_request`, which the
 * service has too: the call cannot be written as a request, so nothing was sent. `http_502`, for example: another program,
 * such as a proxy, has answered with this status.
 */
export type ClientErrorCode =
  | 'network_error'
  | 'timeout'
  | 'bad_response'
  | 'bad_request'
  | 'bad_webhook'
  | `http_${number}`;

interface ErrorFacts {
  code: string;
  status?: number | null;
  retryable?: boolean;
  retryAfterSeconds?: number | null;
  recovery?: Recovery[];
  issues?: { pointer: string; detail: string }[];
  rows?: BatchRowError[];
  rowCount?: number;
  requestId?: string | null;
  minCostUsd?: number | null;
  requiredUsd?: number | null;
  sessionId?: string | null;
  idempotencyKey?: string | null;
  cause?: unknown;
}

/** Why a call failed, and what to do about it. */
export class EloquentPollError extends Error {
  /** Stable: a code of the service's catalogue, or one of `ClientErrorCode`. */
  readonly code: string;
  /** The status of the HTTP response. Null if there was none. */
  readonly status: number | null;
  /** Whether the same call can succeed later without changes. */
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | null;
  readonly recovery: readonly Recovery[];
  /** The wrong fields, each with a JSON pointer into the request. */
  readonly issues: readonly { pointer: string; detail: string }[];
  /** With `batch_invalid`: the first invalid rows. */
  readonly rows: readonly BatchRowError[];
  /** With `batch_invalid`: the number of all invalid rows. */
  readonly rowCount: number;
  /** Identifies the request for the service's operator. */
  readonly requestId: string | null;
  /** With `budget_too_small`: the lowest `max_cost_usd` that covers one vote. */
  readonly minCostUsd: number | null;
  /** With `insufficient_balance` of a batch: the balance that would be enough. */
  readonly requiredUsd: number | null;
  /**
   * The id of a poll that was or may have been created and whose end is unknown, or of a stream. Find it with
   * `session(sessionId)`: it may cost. If its status is a 404, it was not created.
   */
  readonly sessionId: string | null;
  /**
   * The idempotency key of a poll or batch, given or generated. The same call with this key joins the first one if it
   * was created.
   */
  readonly idempotencyKey: string | null;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'EloquentPollError';
    this.code = facts.code;
    this.status = facts.status ?? null;
    this.retryable = facts.retryable ?? false;
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
    this.recovery = facts.recovery ?? [];
    this.issues = facts.issues ?? [];
    this.rows = facts.rows ?? [];
    this.rowCount = facts.rowCount ?? this.rows.length;
    this.requestId = facts.requestId ?? null;
    this.minCostUsd = facts.minCostUsd ?? null;
    this.requiredUsd = facts.requiredUsd ?? null;
    this.sessionId = facts.sessionId ?? null;
    this.idempotencyKey = facts.idempotencyKey ?? null;
  }
}

// ---------------------------------------------------------------------------------------------------------- client

export interface ClientOptions {
  /** The address of the service. Default: the service that this file was downloaded from. */
  baseUrl?: string | undefined;
  /** `ep_k_…`. Without a key, only free polls and public data are available. */
  apiKey?: string | undefined;
  /** Value of the cookie `ep_session`, for operations that keys cannot use. Browsers send it automatically. */
  session?: string | undefined;
  /** How often a call is retried after a temporary failure. Default: 2. */
  maxRetries?: number | undefined;
  /** Whether calls wait when a rate limit of the service is used up. Default: true. */
  pace?: boolean | undefined;
  /** Must observe the `signal`, and `redirect: 'manual'`: a redirect that is followed loses the key. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

export interface CallOptions {
  signal?: AbortSignal;
  /**
   * Timeout of the whole call, including waits and retries. Default: a time limit that starts when the rate limits
   * allow the call.
   */
  timeoutMs?: number;
}

export interface PollOptions extends CallOptions {
  /** A second call with the same key gets the first one's result. Default: a new key for each call. */
  idempotencyKey?: string;
}

export interface BatchOptions extends PollOptions {
  /** The format of a file. Default: as the file's own type says, or JSON lines. */
  format?: 'jsonl' | 'csv';
}

export interface BatchWaitOptions extends CallOptions {
  /** Called every few seconds. */
  onProgress?: (batch: Batch) => void;
}

export interface WaitOptions extends CallOptions {
  /** Called when a vote has arrived. */
  onProgress?: (progress: Progress) => void;
}

/** The content of a webhook. `data` contains ids, addresses and your metadata, never the question. */
export interface WebhookEvent {
  /** Such as `poll.completed` or `batch.completed`. Expect new types. */
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

export interface WebhookOptions {
  /** How far a delivery's time may differ from this clock, in either direction. Default: 300. */
  toleranceSeconds?: number;
  /** Milliseconds since 1970. Default: the clock of this machine. */
  now?: number;
}

/** A poll ends within two minutes. */
const POLL_TIMEOUT_MS = 150_000;
const TIMEOUT_MS = 30_000;
/** The service accepts uploads for up to ten minutes, and then answers with an error. */
const UPLOAD_TIMEOUT_MS = 630_000;
/** A batch ends within a day, and then its results are read. */
const BATCH_TIMEOUT_MS = 26 * 3_600_000;
/** A poll of the tier `flex` ends within a day, and then its result is read. */
const SESSION_TIMEOUT_MS = 26 * 3_600_000;
const BATCH_NEWS_MS = 2_000;
const EXPORT_TIMEOUT_MS = 24 * 3_600_000;
const MAX_WAIT_S = 25;
/** The service sends a keep-alive every 15 s. */
const SILENCE_MS = 45_000;
const FIRST_BACKOFF_MS = 500;
/** With a longer Retry-After, the call fails instead of waiting. */
const MAX_BACKOFF_MS = 30_000;
/** If a rate limit resets later than this, the call does not wait: the service refuses it and says why. */
const MAX_PAUSE_MS = 65_000;
/** Maximum wait of a call without a timeout, over several windows of its rate limit. */
const MAX_PAUSES_MS = 600_000;
/** Number of concurrent calls before the first answer shows the rate limit. */
const FIRST_CALLS = 8;
const MAX_BODY_CHARACTERS = 16 * 2 ** 20;

export class EloquentPoll {
  readonly #service: Service;

  constructor(options: ClientOptions = {}) {
    this.#service = createService(options);
  }

  /**
   * Runs a poll and waits for its result. A call that is aborted leaves its poll running: the same call with the same
   * `idempotencyKey` joins it.
   */
  async ask(request: PollRequest, options: PollOptions = {}): Promise<PollResponse> {
    const call = paid('/api/poll', request, options);
    const answer = await this.#service.body<PollResponse>(call);
    idIn(answer, 'poll_id', call);
    return answer;
  }

  /** Starts a poll that runs in the background. */
  async begin(request: PollRequest, options: PollOptions = {}): Promise<Session> {
    const call = { ...paid('/api/polls', request, options), usualMs: TIMEOUT_MS };
    return new Session(
      this.#service,
      idIn(await this.#service.body<unknown>(call), 'session_id', call),
      request.service_tier === 'flex' ? SESSION_TIMEOUT_MS : POLL_TIMEOUT_MS,
    );
  }

  /** A poll that was started earlier, here or elsewhere. */
  session(sessionId: string): Session {
    return new Session(this.#service, sessionId);
  }

  /**
   * Runs a poll and yields its events: `started` at once and after each vote, then one `complete`. A broken connection
   * is resumed. Leaving the loop closes the connection, but the poll continues.
   */
  stream(request: PollRequest, options: PollOptions = {}): AsyncGenerator<StreamEvent, void> {
    return streamPoll(this.#service, paid('/api/poll/stream', request, options));
  }

  /** Runs a poll in a short form: `Which is larger? [The Sun, The Moon]`, or only a question. Free without a key. */
  async quick(request: string | QuickRequest, options: PollOptions = {}): Promise<QuickResult> {
    const body: QuickRequest = typeof request === 'string' ? { poll: request } : request;
    // Free polls have their own rate limit.
    const budget = `quick polls, ${body.theme}`;
    return this.#service.body<QuickResult>({ ...paid('/api/quick-poll', body, options), budget });
  }

  /** Always free, with or without a key: open-weight models, at most 5 options of 50 characters. */
  async free(
    request: string | (Pick<QuickRequest, 'question' | 'options' | 'poll'> & { theme?: FreeTheme }),
    options: PollOptions = {},
  ): Promise<QuickResult> {
    const body: QuickRequest = typeof request === 'string' ? { poll: request } : request;
    return this.quick({ ...body, theme: body.theme ?? 'free' }, options);
  }

  /** Estimates the cost and duration of a poll. */
  async estimate(
    query: Pick<PollRequest, 'preset' | 'models' | 'confidence_threshold' | 'reasons' | 'service_tier'> & {
      options?: number;
    } = {},
    options: CallOptions = {},
  ): Promise<Estimate> {
    const { models, ...others } = query;
    const terms = { ...others, models: models?.join() };
    return this.#service.body<Estimate>({ path: '/api/poll/estimate', query: search(terms), ...options });
  }

  /** Checks whether a poll would be accepted and what it would cost. Nothing is run. */
  async dryRun(request: Partial<PollRequest>, options: CallOptions = {}): Promise<DryRun> {
    return this.#service.body<DryRun>({ method: 'POST', path: '/api/poll/dry-run', body: request, ...options });
  }

  async profiles(options: CallOptions = {}): Promise<Profiles> {
    return this.#service.body<Profiles>({ path: '/api/profiles', ...options });
  }

  /** Reads a public result by its id. */
  async result(resultId: string, options: CallOptions = {}): Promise<ResultDetail> {
    return this.#service.body<ResultDetail>({ path: '/api/results/{}', ids: [resultId], ...options });
  }

  /**
   * Deletes an ended poll with its result, by either of its ids. Its public addresses answer 404 at once. `session_id`
   * is empty if the poll was named by its result and an earlier attempt, whose answer was lost, may have deleted it.
   */
  async deletePoll(pollId: string, options: CallOptions = {}): Promise<PollDeleted> {
    const gone: PollDeleted = { deleted: true, session_id: pollId.startsWith('ps_') ? pollId : '' };
    const call: Call = { method: 'DELETE', path: '/api/results/{}', ids: [pollId], gone, ...options };
    return this.#service.body<PollDeleted>(call);
  }

  /** The signed statement of a result, with its price if the key belongs to the poll's owner. */
  async receipt(resultId: string, options: CallOptions = {}): Promise<ResultReceipt> {
    return this.#service.body<ResultReceipt>({ path: '/api/results/{}/receipt', ids: [resultId], ...options });
  }

  async receiptKeys(options: CallOptions = {}): Promise<ReceiptKeys> {
    return this.#service.body<ReceiptKeys>({ path: '/.well-known/jwks.json', ...options });
  }

  /** Sealed days of receipts, newest first, or a single day. To check a result's receipt, pass the result's id. */
  async receiptDays(
    asked: { day?: string; before?: string; limit?: number; resultId?: string } = {},
    options: CallOptions = {},
  ): Promise<ReceiptDays> {
    const { day, before, limit, resultId: result_id } = asked;
    const query = search({ day, before, limit, result_id });
    return this.#service.body<ReceiptDays>({ path: '/api/receipts/days', query, ...options });
  }

  /** One page of your polls, newest first. */
  async polls(asked: PollListQuery = {}, options: CallOptions = {}): Promise<PollList> {
    const { metadata = {}, ...rest } = asked;
    const query = search({ ...rest, ...metadataQuery(metadata) });
    return this.#service.body<PollList>({ path: '/api/polls', query, ...options });
  }

  /** All polls that match the query, newest first, read page by page. */
  async *eachPoll(
    query: Omit<PollListQuery, 'before'> = {},
    options: CallOptions = {},
  ): AsyncGenerator<ListedPoll, void> {
    for (let after = query.after; ; ) {
      const page = await this.polls({ limit: 100, ...query, ...(after !== undefined && { after }) }, options);
      yield* page.polls;
      if (page.after === null) return;
      after = page.after;
    }
  }

  /** The status of several polls, at most 100 per call. */
  async statuses(sessionIds: readonly string[], options: CallOptions = {}): Promise<SessionStatuses> {
    const query = search({ ids: sessionIds.join() });
    return this.#service.body<SessionStatuses>({ path: '/api/polls/status', query, ...options });
  }

  /**
   * Submits many polls in one call. The service runs them within a day, at a lower price. All rows are checked first:
   * if one is invalid, nothing runs, and the error's `rows` say which.
   */
  async batch(rows: BatchRows, terms: BatchTerms = {}, options: BatchOptions = {}): Promise<BatchRun> {
    const { format, idempotencyKey, ...rest } = options;
    const { metadata = {}, ...fields } = terms;
    const upload = rows instanceof Blob ? rows : await jsonLines(rows, options.signal);
    const isCsv = format === 'csv' || (format === undefined && upload.type.startsWith('text/csv'));
    const headers = {
      'Content-Type': isCsv ? 'text/csv' : 'application/jsonl',
      'Idempotency-Key': idempotencyKey ?? randomKey(),
    };
    const query = search({ ...fields, ...metadataQuery(metadata) });
    const call: Call = { method: 'POST', path: '/api/batches', query, upload, headers, usualMs: UPLOAD_TIMEOUT_MS };
    const made = await this.#service.body<unknown>({ ...call, ...rest });
    return new BatchRun(this.#service, idIn(made, 'batch_id', call));
  }

  /** A batch that was started earlier, here or elsewhere. */
  batchRun(batchId: string): BatchRun {
    return new BatchRun(this.#service, batchId);
  }

  /** One page of your batches, newest first. */
  async batches(asked: BatchListQuery = {}, options: CallOptions = {}): Promise<BatchList> {
    return this.#service.body<BatchList>({ path: '/api/batches', query: search({ ...asked }), ...options });
  }

  /** Your last five results. Needs a session; keys cannot use it. */
  async recent(options: CallOptions = {}): Promise<RecentResult[]> {
    return this.#service.body<RecentResult[]>({ path: '/api/results/recent', ...options });
  }

  /** All your results, newest first. Needs a session; keys cannot use it. */
  async history(page: { limit?: number; offset?: number } = {}, options: CallOptions = {}): Promise<HistoryResult[]> {
    const query = search({ limit: page.limit, offset: page.offset });
    return this.#service.body<HistoryResult[]>({ path: '/api/results', query, ...options });
  }

  /**
   * Your balance and usage. With a key, it is read through the MCP tool `get_balance`, because /api/balance needs a
   * session.
   */
  async balance(options: CallOptions = {}): Promise<Balance> {
    if (this.#service.usesKey) return (await callTool(this.#service, 'get_balance', options)) as Balance;
    return this.#service.body<Balance>({ path: '/api/balance', ...options });
  }

  /** Polls and charges by day, key, preset, surface or one of your labels. */
  async usage(asked: UsageQuery = {}, options: CallOptions = {}): Promise<UsageReport> {
    return this.#service.body<UsageReport>({ path: '/api/usage', query: search({ ...asked }), ...options });
  }

  /** The balance in detail, with a key or a session. */
  async usageBalance(options: CallOptions = {}): Promise<UsageBalance> {
    return this.#service.body<UsageBalance>({ path: '/api/usage/balance', ...options });
  }

  /** The balance counts as low if it is below this amount; null: never. */
  async setLowBalance(usd: number | null, options: CallOptions = {}): Promise<UsageBalance> {
    const call: Call = { method: 'PUT', path: '/api/usage/low-balance', body: { low_balance_usd: usd }, ...options };
    return this.#service.body<UsageBalance>(call);
  }

  /**
   * All data of the account, line by line: account, keys, polls with results, transfers and more, each with its `type`.
   * A later call can continue after a line of type `cursor`. The last line is `end`.
   */
  async *exportAccount(
    asked: { cursor?: string | undefined } = {},
    options: CallOptions = {},
  ): AsyncGenerator<ExportLine, void> {
    let { cursor } = asked;
    let part: ExportLine[] = [];
    const next = (): Call => {
      // The lines after the last cursor will be sent again.
      part = [];
      return { path: '/api/export', query: search({ cursor }), usualMs: EXPORT_TIMEOUT_MS, ...options };
    };
    const isNew = (line: ExportLine) => line.type === 'cursor' && line.cursor !== cursor;
    for (let before = cursor; ; before = cursor) {
      for await (const line of streamLines(this.#service, next, isNew)) {
        part.push(line);
        if (line.type !== 'cursor' && line.type !== 'end') continue;
        if (typeof line.cursor === 'string') cursor = line.cursor;
        yield* part.splice(0);
        if (line.type === 'end') return;
      }
      // A server that shuts down ends its answers early, after a cursor.
      if (cursor === before) throw new EloquentPollError('The export has no end.', { code: 'bad_response' });
    }
  }

  /** Sends feedback on an outcome. A second feedback on the same poll replaces the first. */
  async feedback(feedback: Feedback, options: CallOptions = {}): Promise<FeedbackReceipt> {
    return this.#service.body<FeedbackReceipt>({ method: 'POST', path: '/api/feedback', body: feedback, ...options });
  }

  async keys(options: CallOptions = {}): Promise<ApiKey[]> {
    return this.#service.body<ApiKey[]>({ path: '/api/keys', ...options });
  }

  /** If the answer is lost, revoke the key that `keys` lists and create another. */
  async createKey(terms: string | KeyTerms = {}, options: CallOptions = {}): Promise<NewApiKey> {
    const body = typeof terms === 'string' ? { label: terms } : terms;
    return this.#service.body<NewApiKey>({ method: 'POST', path: '/api/keys', body, once: true, ...options });
  }

  async changeKey(keyId: string, change: KeyChange, options: CallOptions = {}): Promise<ApiKey> {
    return this.#service.body<ApiKey>({
      method: 'PATCH',
      path: '/api/keys/{}',
      ids: [keyId],
      body: change,
      ...options,
    });
  }

  /** Exchanges the code that a login in the browser sent to this program for an API key, once. */
  async redeemGrant(grant: { code: string; verifier: string }, options: CallOptions = {}): Promise<NewApiKey> {
    const call: Call = { method: 'POST', path: '/api/keys/redeem', body: grant, once: true };
    return this.#service.body<NewApiKey>({ ...call, ...options });
  }

  async webhookEndpoints(options: CallOptions = {}): Promise<WebhookEndpoint[]> {
    const found = await this.#service.body<{ endpoints: WebhookEndpoint[] }>({ path: ENDPOINTS, ...options });
    return found.endpoints;
  }

  /** The answer contains the secret that signs its messages. */
  async createWebhookEndpoint(
    endpoint: WebhookEndpointRequest,
    options: CallOptions = {},
  ): Promise<NewWebhookEndpoint> {
    const call: Call = { method: 'POST', path: ENDPOINTS, body: endpoint, once: true, ...options };
    return this.#service.body<NewWebhookEndpoint>(call);
  }

  async changeWebhookEndpoint(
    endpointId: string,
    change: WebhookEndpointChange,
    options: CallOptions = {},
  ): Promise<WebhookEndpoint> {
    const call: Call = { method: 'PATCH', path: `${ENDPOINTS}/{}`, ids: [endpointId], body: change, ...options };
    return this.#service.body<WebhookEndpoint>(call);
  }

  async removeWebhookEndpoint(endpointId: string, options: CallOptions = {}): Promise<{ removed: boolean }> {
    const gone = { removed: true };
    const call: Call = { method: 'DELETE', path: `${ENDPOINTS}/{}`, ids: [endpointId], gone, ...options };
    return this.#service.body<{ removed: boolean }>(call);
  }

  /** The secret that signs an endpoint's messages. `account`: the one for the `webhook_url` of polls and batches. */
  async webhookSecret(endpointId = 'account', options: CallOptions = {}): Promise<WebhookSecret> {
    return this.#service.body<WebhookSecret>({ path: `${ENDPOINTS}/{}/secret`, ids: [endpointId], ...options });
  }

  /** Creates a new secret. For `overlap_s` seconds, messages are signed with both. */
  async rotateWebhookSecret(
    endpointId = 'account',
    rotation: { overlap_s?: number } = {},
    options: CallOptions = {},
  ): Promise<WebhookSecret> {
    const call: Call = { method: 'POST', path: `${ENDPOINTS}/{}/rotate-secret`, ids: [endpointId], once: true };
    return this.#service.body<WebhookSecret>({ ...call, body: rotation, ...options });
  }

  /** Sends a test message to the endpoint. */
  async testWebhookEndpoint(endpointId: string, options: CallOptions = {}): Promise<WebhookDelivery> {
    const call: Call = { method: 'POST', path: `${ENDPOINTS}/{}/test`, ids: [endpointId], once: true, ...options };
    return this.#service.body<WebhookDelivery>(call);
  }

  async webhookDeliveries(
    endpointId: string,
    asked: WebhookDeliveryQuery = {},
    options: CallOptions = {},
  ): Promise<WebhookDeliveryList> {
    const call: Call = { path: `${ENDPOINTS}/{}/deliveries`, ids: [endpointId], query: search({ ...asked }) };
    return this.#service.body<WebhookDeliveryList>({ ...call, ...options });
  }

  async resendWebhook(endpointId: string, deliveryId: string, options: CallOptions = {}): Promise<WebhookDelivery> {
    const path = `${ENDPOINTS}/{}/deliveries/{}/resend`;
    const call: Call = { method: 'POST', path, ids: [endpointId, deliveryId], once: true, ...options };
    return this.#service.body<WebhookDelivery>(call);
  }

  async revokeKey(keyId: string, options: CallOptions = {}): Promise<{ revoked: boolean }> {
    const call: Call = { method: 'DELETE', path: '/api/keys/{}', ids: [keyId], once: true };
    return this.#service.body<{ revoked: boolean }>({ ...call, ...options });
  }
}

/** A poll that runs in the background. */
export class Session {
  readonly id: string;
  readonly #service: Service;
  /** The timeout of a wait or stream without `timeoutMs`. */
  readonly #usualMs: number;

  constructor(service: Service, id: string, usualMs = SESSION_TIMEOUT_MS) {
    this.id = id;
    this.#service = service;
    this.#usualMs = usualMs;
  }

  /** The current status. With `include`, also the result or failure once the poll has ended. */
  async status({ include, ...options }: CallOptions & { include?: 'result' } = {}): Promise<SessionStatus> {
    return this.#service.body<SessionStatus>({ ...this.#to('status'), query: search({ include }), ...options });
  }

  /** The result. Null while the poll runs. */
  async result(options: CallOptions = {}): Promise<PollResponse | null> {
    const call: Call = { ...this.#to('result'), ...options };
    const { status, body } = await this.#service.call(call);
    if (status === 202) return null;
    idIn(body, 'poll_id', call);
    return body as PollResponse;
  }

  /** Stops asking models. The votes received by then are charged. Has no effect on an ended poll. */
  async cancel(options: CallOptions = {}): Promise<SessionStatus> {
    const call: Call = { method: 'POST', ...this.#to('cancel'), ...options };
    const { session_id, status, result_id } = await this.#service.body<SessionStatus>(call);
    return { session_id, status, result_id };
  }

  /**
   * Waits for the end, usually inside a single request, and returns the result. A temporary failure, such as a restart
   * of the service, only causes a delay. Without `timeoutMs` it waits as long as a poll can take: a day, if it may be a
   * `flex` poll.
   */
  async wait(options: WaitOptions = {}): Promise<PollResponse> {
    const deadline = startDeadline(options.signal, options.timeoutMs ?? this.#usualMs);
    try {
      await this.#untilEnded(deadline, options.onProgress);
      const result = await untilHeard(deadline, () => this.result({ signal: deadline.signal }));
      if (!result) throw new EloquentPollError('The poll has ended without a result.', { code: 'bad_response' });
      return result;
    } finally {
      deadline.end();
    }
  }

  async #untilEnded(deadline: Deadline, onProgress: WaitOptions['onProgress']): Promise<void> {
    let known: string | null = null;
    for (;;) {
      let asked = 0;
      const answer = await untilHeard(deadline, () => {
        asked = performance.now();
        return this.#news(deadline, known, onProgress !== undefined);
      });
      const tag = answer.headers.get('etag');
      if (answer.status !== 304) {
        const { status, progress } = answer.body as SessionStatus;
        if (status !== 'running') return;
        if (onProgress && progress && (tag === null || tag !== known)) onProgress(progress);
      }
      const isNews = tag !== null && tag !== known;
      known = tag;
      // The service should have held back an unchanged answer. Since it did not, pause here.
      if ((onProgress && isNews) || performance.now() - asked >= 1_000) continue;
      await sleep(Math.min((retryAfter(answer.headers) ?? 1) * 1_000, MAX_BACKOFF_MS), deadline.signal);
    }
  }

  /**
   * With a known tag, the service answers at the next vote. Without one, it answers at the end, or at once if
   * following.
   */
  #news({ signal, leftMs }: Deadline, known: string | null, following: boolean): Promise<Answer> {
    const seconds = Math.max(1, Math.min(MAX_WAIT_S, Math.floor(leftMs() / 1_000)));
    const headers = {
      ...((known !== null || !following) && { Prefer: `wait=${seconds}` }),
      ...(known !== null && following && { 'If-None-Match': known }),
    };
    return this.#service.call({
      ...this.#to('status'),
      headers,
      timeoutMs: TIMEOUT_MS + MAX_WAIT_S * 1_000,
      signal,
    });
  }

  /**
   * The poll's events from its current state on: the newest `started`, one after each vote, then `complete`. Free of
   * charge. After the first event, a temporary failure only delays the next one.
   */
  stream(options: CallOptions = {}): AsyncGenerator<StreamEvent, void> {
    const call: Call = { method: 'POST', path: '/api/poll/stream', usualMs: this.#usualMs, ...options };
    return streamPoll(this.#service, call, this.id);
  }

  #to(what: 'status' | 'result' | 'cancel'): Pick<Call, 'path' | 'ids'> {
    return { path: `/api/polls/{}/${what}`, ids: [this.id] };
  }
}

/** Many polls that run in the background. */
export class BatchRun {
  readonly id: string;
  readonly #service: Service;

  constructor(service: Service, id: string) {
    this.id = id;
    this.#service = service;
  }

  async status(options: CallOptions = {}): Promise<Batch> {
    return this.#service.body<Batch>({ ...this.#to(), ...options });
  }

  /** Waits for the end. A temporary failure, such as a restart of the service, only causes a delay. */
  async wait({ onProgress, ...options }: BatchWaitOptions = {}): Promise<Batch> {
    const deadline = startDeadline(options.signal, options.timeoutMs ?? BATCH_TIMEOUT_MS);
    try {
      const headers: Record<string, string> = onProgress ? {} : { Prefer: `wait=${MAX_WAIT_S}` };
      const timeoutMs = TIMEOUT_MS + MAX_WAIT_S * 1_000;
      const call: Call = { ...this.#to(), headers, timeoutMs, signal: deadline.signal };
      for (;;) {
        let asked = 0;
        const batch = await untilHeard(deadline, () => {
          asked = performance.now();
          return this.#service.body<Batch>(call);
        });
        onProgress?.(batch);
        if (batch.ended_at !== null) return batch;
        const pause = BATCH_NEWS_MS - (performance.now() - asked);
        if (pause > 0) await sleep(pause, deadline.signal);
      }
    } finally {
      deadline.end();
    }
  }

  /**
   * The results of its rows, in any order. While the batch runs, those of rows that have ended. A broken connection is
   * resumed. Of an ended batch, every row arrives, or the end is an error.
   */
  async *results(options: CallOptions = {}): AsyncGenerator<BatchResult, void> {
    const seen = new Set<number>();
    const call: Call = { ...this.#to('/results'), usualMs: BATCH_TIMEOUT_MS, ...options };
    const isNew = ({ line }: BatchResult) => !seen.has(line);
    // An answer that a proxy cut between two lines looks complete.
    const isWhole = (headers: Headers) => !(seen.size < Number(headers.get('x-total-count')));
    for await (const row of streamLines(this.#service, () => call, isNew, isWhole)) {
      if (!isNew(row)) continue;
      seen.add(row.line);
      yield row;
    }
  }

  /**
   * For rows with right answers: how often they were answered right, by model, threshold and confidence, and which
   * setting would have been enough.
   */
  async report(options: CallOptions = {}): Promise<BatchReport> {
    return this.#service.body<BatchReport>({ ...this.#to('/report'), ...options });
  }

  /** Starts no more rows and cancels running polls. The votes received by then are charged. */
  async cancel(options: CallOptions = {}): Promise<Batch> {
    return this.#service.body<Batch>({ method: 'POST', ...this.#to('/cancel'), ...options });
  }

  /** Deletes an ended batch with its rows and results. */
  async delete(options: CallOptions = {}): Promise<BatchDeleted> {
    const gone: BatchDeleted = { batch_id: this.id, deleted: true };
    return this.#service.body<BatchDeleted>({ method: 'DELETE', ...this.#to(), gone, ...options });
  }

  #to(what = ''): Pick<Call, 'path' | 'ids'> {
    return { path: `/api/batches/{}${what}`, ids: [this.id] };
  }
}

/** Collects the rows in parts, so that rows from an iterator can be sent again. */
async function jsonLines(
  rows: Iterable<object> | AsyncIterable<object>,
  signal: AbortSignal | undefined,
): Promise<Blob> {
  const parts: Blob[] = [];
  let text = '';
  for await (const row of rows) {
    signal?.throwIfAborted();
    text += `${jsonOf(row)}\n`;
    if (text.length < 2 ** 20) continue;
    parts.push(new Blob([text]));
    text = '';
  }
  return new Blob([...parts, text]);
}

// -------------------------------------------------------------------------------------------------------- webhooks

const MAX_SIGNATURES = 16;

/**
 * Checks that a delivery comes from the service (Standard Webhooks) and reads it. Pass the body as received, before
 * parsing, and every secret that may be in use: there are two while one is rotated. A delivery may arrive more than
 * once, with the same `webhook-id`.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: Headers | Record<string, string | string[] | undefined>,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now() }: WebhookOptions = {},
): Promise<WebhookEvent> {
  const [id, time, signatures] = ['id', 'timestamp', 'signature'].map((name) => headerOf(headers, `webhook-${name}`));
  if (!id || !time || !signatures)
    throw unverified('The headers webhook-id, webhook-timestamp, webhook-signature are needed.');
  // A tolerance that is no number accepts nothing, so that old deliveries cannot be replayed.
  if (!/^\d{1,12}$/.test(time) || !(Math.abs(now / 1_000 - Number(time)) <= toleranceSeconds)) {
    throw unverified(`The delivery is not of the last ${toleranceSeconds} seconds; check this machine's clock.`);
  }
  const content = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  if (!ArrayBuffer.isView(content)) throw unverified('The body is needed as it was received, before it is parsed.');
  const signed = joined(new TextEncoder().encode(`${id}.${time}.`), content);
  const given = signatures.split(' ').slice(0, MAX_SIGNATURES);
  const found = given.flatMap((one) => (one.startsWith('v1,') ? (bytesOf(one.slice(3)) ?? []) : []));
  let isGood = false;
  for (const secret of [secrets].flat()) {
    const bytes = typeof secret === 'string' ? bytesOf(secret.replace(/^whsec_/, '')) : null;
    if (!bytes?.length) throw unverified('A secret is not whsec_ and base64.');
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
    for (const signature of found) {
      // WebCrypto compares in constant time. All secrets are tried, whichever is right.
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) isGood = true;
    }
  }
  if (!isGood) throw unverified('No signature of the delivery is made with this secret from this body.');
  const event = objectIn(new TextDecoder().decode(content)) as WebhookEvent | null;
  if (typeof event?.type !== 'string') throw unverified('The delivery is not an event.');
  return event;
}

const unverified = (message: string): EloquentPollError => new EloquentPollError(message, { code: 'bad_webhook' });

function headerOf(headers: Headers | Record<string, string | string[] | undefined>, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return Array.isArray(found) ? found[0] : found;
}

function bytesOf(base64: string) {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}

function joined(first: Uint8Array, second: Uint8Array) {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

// ------------------------------------------------------------------------------------------------------- transport

interface Call extends CallOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Contains `{}` for each of the ids. */
  path: string;
  ids?: readonly string[];
  /** Made by `search`. */
  query?: string;
  body?: unknown;
  /** Sent instead of `body`. Its type is given as a header. */
  upload?: Blob;
  headers?: Record<string, string>;
  accept?: string;
  /** Not idempotent: retried only if the service refused it. */
  once?: boolean;
  /** For deletions: the body to return if a retry finds nothing, because an earlier attempt may have deleted it. */
  gone?: object;
  /** Throws the error that a successful answer contains. */
  check?: (answer: Answer) => void;
  /** The timeout without `timeoutMs`, counted from when the rate limits allow the call. */
  usualMs?: number;
  /** The rate limit that it counts against. Default: that of its method and path. */
  budget?: string;
}

interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

interface Service {
  maxRetries: number;
  /** True if there is a key and no session. */
  usesKey: boolean;
  /** Makes a call with its retries. */
  call(call: Call): Promise<Answer>;
  /** The same, but returns the body. */
  body<T>(call: Call): Promise<T>;
  /** Waits until the rate limit allows the call, then returns its deadline. */
  begin(call: Call): Promise<Deadline>;
  /** One attempt; repeated ones wait first. Returns a successful response with an unread body, or throws an error. */
  send(call: Call, attempt: number, deadline: Deadline, accept: string, signal?: AbortSignal): Promise<Response>;
}

const ENDPOINTS = '/api/webhook-endpoints';

/** All polls with a key share one rate limit. */
const POLLS = 'polls';

function paid(path: string, body: object, { idempotencyKey, ...options }: PollOptions): Call {
  const headers = { 'Idempotency-Key': idempotencyKey ?? randomKey() };
  return { method: 'POST', path, body, headers, usualMs: POLL_TIMEOUT_MS, budget: POLLS, ...options };
}

const targetOf = ({ path, ids = [], query = '' }: Call): string => {
  let next = 0;
  return path.replaceAll('{}', () => encodeURIComponent(ids[next++] ?? '')) + query;
};

const budgetOf = ({ budget, method = 'GET', path }: Call): string => budget ?? `${method} ${path}`;

function createService(options: ClientOptions): Service {
  const baseUrl = addressOf(options.baseUrl ?? BASE_URL);
  const maxRetries = options.maxRetries ?? 2;
  const fetching = options.fetch ?? ((url, init) => fetch(url, init));
  const pace = options.pace === false ? null : createPace();
  const apiKey = secretText('apiKey', options.apiKey);
  const session = secretText('session', options.session);
  const credentials: Record<string, string> = {
    ...(apiKey !== undefined && { Authorization: `Bearer ${apiKey}` }),
    ...(session !== undefined && { Cookie: `ep_session=${session}` }),
  };

  function requestOf(call: Call, accept: string, signal: AbortSignal): RequestInit {
    const headers = {
      Accept: accept,
      ...(call.body !== undefined && { 'Content-Type': 'application/json' }),
      ...credentials,
      ...call.headers,
    };
    for (const [name, value] of Object.entries(headers)) {
      if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
        throw badRequest(`${name} has characters that HTTP does not allow.`);
    }
    return {
      method: call.method ?? 'GET',
      headers,
      ...(call.body !== undefined && { body: jsonOf(call.body) }),
      ...(call.upload && { body: call.upload }),
      // Followed to another origin, a request has no key, and a quick poll without a key is a free one.
      redirect: 'manual',
      signal,
    };
  }

  async function send(
    call: Call,
    attempt: number,
    deadline: Deadline,
    accept: string,
    signal = deadline.signal,
  ): Promise<Response> {
    if (attempt > 0) await pace?.turn(budgetOf(call), signal, deadline.leftMs());
    const noteAnswer = pace?.sent(budgetOf(call));
    let response: Response;
    try {
      response = await fetching(`${baseUrl}${targetOf(call)}`, requestOf(call, accept, signal));
    } catch (cause) {
      noteAnswer?.(null);
      throw networkError(cause, signal);
    }
    noteAnswer?.(response);
    if (response.ok || response.status === 304) return response;
    throw await errorOf(response, signal);
  }

  async function begin(call: Call): Promise<Deadline> {
    const { signal, timeoutMs, usualMs = TIMEOUT_MS } = call;
    if (timeoutMs === undefined) {
      await pace?.turn(budgetOf(call), signal, MAX_PAUSES_MS);
      return startDeadline(signal, usualMs);
    }
    // The calls ahead may wait for longer than this one's timeout.
    const deadline = startDeadline(signal, timeoutMs);
    try {
      await pace?.turn(budgetOf(call), deadline.signal, timeoutMs);
    } catch (error) {
      deadline.end();
      throw error;
    }
    return deadline;
  }

  async function attempts(call: Call, deadline: Deadline): Promise<Answer> {
    const accept = call.accept ?? 'application/json, application/problem+json';
    let mayBeDone = false;
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await send(call, attempt, deadline, accept);
        const { status, headers } = response;
        const answer = { status, headers, body: await bodyOf(response, deadline.signal) };
        call.check?.(answer);
        return answer;
      } catch (error) {
        if (call.gone && mayBeDone && isNotThere(error))
          return { status: 200, headers: new Headers(), body: call.gone };
        mayBeDone ||= !isRefusal(error);
        const delay = attempt < maxRetries ? delayBefore(attempt, error, call) : null;
        // There is no time left for the wait, so throw the error.
        if (delay === null || delay >= deadline.leftMs()) throw error;
        await sleep(delay, deadline.signal);
      }
    }
  }

  async function call(call: Call): Promise<Answer> {
    let deadline: Deadline | null = null;
    try {
      deadline = await begin(call);
      return await attempts(call, deadline);
    } catch (error) {
      throw withPoll(error, call);
    } finally {
      deadline?.end();
    }
  }

  const usesKey = apiKey !== undefined && session === undefined;
  return { maxRetries, usesKey, call, body: async <T>(one: Call) => (await call(one)).body as T, begin, send };
}

/** `fetch` refuses an address with a password, and its error shows it. Paths are appended, so a query is dropped. */
function addressOf(text: string): string {
  const { protocol, username, password, origin, pathname } = new URL(text);
  // `localhost:8080` would be of the protocol `localhost:`.
  if (!/^https?:$/.test(protocol)) throw new TypeError('baseUrl must begin with http:// or https://.');
  if (username || password) throw new TypeError('baseUrl must not contain a user name or a password.');
  return (origin + pathname).replace(/\/+$/, '');
}

/** Checked before the first call, because the error of `fetch` for such a header shows the whole key. */
function secretText(name: 'apiKey' | 'session', value: string | undefined): string | undefined {
  // A key that is read from a file ends with a line ending.
  const text = value?.trim();
  if (text !== undefined && !/^[\x21-\x7e]*$/.test(text))
    throw new TypeError(`${name} contains characters that it cannot have.`);
  return text;
}

const badRequest = (message: string, cause?: unknown): EloquentPollError =>
  new EloquentPollError(message, { code: 'bad_request', cause });

function jsonOf(body: unknown): string {
  try {
    return JSON.stringify(body, finite);
  } catch (cause) {
    throw badRequest(`The body cannot be written as JSON: ${reasonOf(cause)}`, cause);
  }
}

/** JSON has no NaN. It would be written as null, and null removes the limit of a key. */
function finite(name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${name} is ${value}`);
  return value;
}

/** Calls a read-only tool of the MCP server in one request. */
async function callTool(service: Service, name: string, options: CallOptions): Promise<unknown> {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } };
  const accept = 'application/json, text/event-stream';
  let content: object | undefined;
  // The error of a tool is an answer with status 200. A temporary one is retried like any other.
  const check = ({ status, headers, body }: Answer): void => {
    const { result, error } = Object(body) as ToolAnswer;
    content = result?.structuredContent;
    if (content) return;
    const problem = objectIn(result?.content?.[0]?.text ?? '') ?? error?.data ?? { error: error?.message };
    throw errorFrom(problem, { code: 'bad_response', status, headers });
  };
  await service.call({ method: 'POST', path: '/api/mcp', body, accept, check, ...options });
  return content;
}

interface ToolAnswer {
  result?: { structuredContent?: object; content?: { text?: string }[] };
  error?: { message?: unknown; data?: unknown };
}

/** Retryable statuses, if the body does not say whether a retry helps. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);
/** Statuses of requests that had no effect. */
const REFUSED = new Set([425, 429]);

const isRefusal = (error: unknown): boolean =>
  error instanceof EloquentPollError && error.status !== null && REFUSED.has(error.status);

/** True if the service itself says so. A proxy whose service is down sends no code. */
const isNotThere = (error: unknown): boolean =>
  error instanceof EloquentPollError && error.status === 404 && error.code !== 'http_404';

/** Milliseconds until the next attempt, with full jitter and not before Retry-After. Null: no retry. */
function delayBefore(
  attempt: number,
  error: unknown,
  { once = false, upload, firstMs = FIRST_BACKOFF_MS }: { once?: boolean; upload?: Blob; firstMs?: number },
): number | null {
  if (!(error instanceof EloquentPollError) || !error.retryable) return null;
  // An upload that did not arrive in time will not do so the next time.
  if (upload && error.status === 408) return null;
  if (error.code === 'timeout') return null;
  if (once && !isRefusal(error)) return null;
  const asked = (error.retryAfterSeconds ?? 0) * 1_000;
  if (asked > MAX_BACKOFF_MS) return null;
  return asked + Math.random() * Math.min(MAX_BACKOFF_MS, firstMs * 2 ** attempt);
}

/** Milliseconds until a long wait looks again, longer after each failed look. Null if the error is not temporary. */
function pauseWithoutNews(missed: number, error: unknown): number | null {
  if (!(error instanceof EloquentPollError) || !error.retryable) return null;
  const halfMs = Math.min(MAX_BACKOFF_MS, BATCH_NEWS_MS * 2 ** missed) / 2;
  return Math.max((error.retryAfterSeconds ?? 0) * 1_000, halfMs) + Math.random() * halfMs;
}

/** Repeats a call after each temporary failure, until its first answer. */
async function untilHeard<T>(deadline: Deadline, call: () => Promise<T>): Promise<T> {
  for (let missed = 0; ; missed++) {
    try {
      return await call();
    } catch (error) {
      const pause = pauseWithoutNews(missed, error);
      if (pause === null || pause >= deadline.leftMs()) throw error;
      await sleep(pause, deadline.signal);
    }
  }
}

function networkError(cause: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (cause instanceof EloquentPollError) return cause;
  const why = reasonOf(cause);
  const message = `The service cannot be reached${why && `: ${why}`}`;
  return new EloquentPollError(message, { code: 'network_error', retryable: true, cause });
}

/** The platform's own words: `fetch` wraps them, and a failure to connect to several addresses has only a code. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { message, cause, code } = error as Error & { code?: unknown };
  return reasonOf(cause) || message || (typeof code === 'string' ? code : '');
}

/** Of what was made. Another program, such as a proxy, may have answered instead. */
function idIn(body: unknown, name: 'session_id' | 'batch_id' | 'poll_id', call: Call): string {
  const { [name]: id } = Object(body) as Partial<Record<typeof name, unknown>>;
  if (typeof id === 'string') return id;
  throw withPoll(new EloquentPollError(`The answer has no ${name}.`, { code: 'bad_response' }), call);
}

/**
 * Adds to an error how to find a poll that may have been created. The reason of the caller's own signal stays
 * unchanged.
 */
function withPoll(error: unknown, { headers, signal }: Call, sessionId: string | null = null): unknown {
  if (!(error instanceof EloquentPollError) || (signal?.aborted && error === signal.reason)) return error;
  return Object.assign(error, {
    sessionId: error.sessionId ?? sessionId,
    idempotencyKey: error.idempotencyKey ?? headers?.['Idempotency-Key'] ?? null,
  });
}

async function bodyOf(response: Response, signal: AbortSignal): Promise<unknown> {
  if (response.status === 204 || response.status === 304) return null;
  const text = await textOf(response, signal);
  const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
  try {
    return JSON.parse(isStream ? (createSseParser()(text).at(-1)?.data ?? '') : text);
  } catch (cause) {
    throw badResponse('The answer is not JSON.', response, cause);
  }
}

async function textOf(response: Response, signal: AbortSignal): Promise<string> {
  if (!response.body) return '';
  let text = '';
  try {
    for await (const piece of textPieces(response.body)) {
      text += piece;
      if (text.length > MAX_BODY_CHARACTERS) throw badResponse('The answer is too long.', response);
    }
  } catch (cause) {
    throw networkError(cause, signal);
  }
  return text;
}

const badResponse = (message: string, { status, headers }: Response, cause?: unknown): EloquentPollError =>
  new EloquentPollError(message, { code: 'bad_response', status, requestId: headers.get('x-request-id'), cause });

async function errorOf(response: Response, signal: AbortSignal): Promise<EloquentPollError> {
  const { status, headers } = response;
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) return redirected(response);
  const text = await textOf(response, signal).catch((error: unknown) => {
    if (signal.aborted) throw error;
    return '';
  });
  // A body that is not a JSON object comes from a proxy.
  const body = objectIn(text) ?? {};
  // The MCP server sends the error of the service as `data` of a JSON-RPC error.
  const { data } = Object(body.error) as { data?: ErrorBody };
  return errorFrom(data ?? body, { code: `http_${status}`, status, headers });
}

/** In a browser, a redirect has neither a status nor an address. */
function redirected({ status, headers, body }: Response): EloquentPollError {
  void body?.cancel().catch(() => {});
  const to = headers.get('location')?.slice(0, 200) ?? 'another address';
  const message = `The service redirects to ${to}. Redirects are not followed: if the service has moved, change baseUrl.`;
  return new EloquentPollError(message, {
    code: status > 0 ? `http_${status}` : 'bad_response',
    status: status || null,
  });
}

/** Makes an error from either kind of error body of the service, or from an error event. */
function errorFrom(
  { detail, error, code, retryable, recovery, errors, error_count, request_id, session_id, ...costs }: ErrorBody,
  known: { code: string; status: number | null; headers: Headers },
): EloquentPollError {
  const message = [detail, error].find((one): one is string => typeof one === 'string');
  const listed = Array.isArray(errors) ? errors.map((one) => Object(one) as Partial<Issue & BatchRowError>) : [];
  return new EloquentPollError(message ?? `The service answered ${known.status}.`, {
    code: typeof code === 'string' ? code : known.code,
    status: known.status,
    retryable: typeof retryable === 'boolean' ? retryable : PASSING.has(known.status ?? 0),
    retryAfterSeconds: retryAfter(known.headers),
    recovery: Array.isArray(recovery) ? (recovery as Recovery[]) : [],
    issues: listed.filter((one): one is Issue => typeof one.pointer === 'string'),
    rows: listed.filter((one): one is BatchRowError => typeof one.line === 'number'),
    ...(typeof error_count === 'number' && { rowCount: error_count }),
    requestId: typeof request_id === 'string' ? request_id : known.headers.get('x-request-id'),
    minCostUsd: typeof costs.min_cost_usd === 'number' ? costs.min_cost_usd : null,
    requiredUsd: typeof costs.required_usd === 'number' ? costs.required_usd : null,
    sessionId: typeof session_id === 'string' ? session_id : null,
  });
}

type Issue = EloquentPollError['issues'][number];

/** Fields of an error body, unchecked. */
type ErrorBody = Partial<
  Record<
    | 'detail'
    | 'error'
    | 'code'
    | 'retryable'
    | 'recovery'
    | 'errors'
    | 'error_count'
    | 'request_id'
    | 'session_id'
    | 'seq'
    | 'min_cost_usd'
    | 'required_usd',
    unknown
  >
>;

/** Null if the text is not a JSON object. */
function objectIn(text: string): ErrorBody | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? (value as ErrorBody | null) : null;
  } catch {
    return null;
  }
}

/** The header in seconds, whether it is a number or a date. */
function retryAfter(headers: Headers): number | null {
  const value = headers.get('retry-after')?.trim();
  if (!value) return null;
  if (/^\d+$/.test(value)) return Number(value);
  const at = Date.parse(value);
  // Uses the service's own clock if the response states its time.
  const now = Date.parse(headers.get('date') ?? '') || Date.now();
  return Number.isNaN(at) ? null : Math.max(0, (at - now) / 1_000);
}

/** Pass only named fields: a wider object may contain values that must not be in a URL. */
function search(query: Record<string, string | number | boolean | undefined>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given}`;
}

const metadataQuery = (metadata: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata).map(([key, value]) => [`metadata[${key}]`, value]));

/** Does not use `randomUUID`, which is not available on pages without TLS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

interface Deadline {
  signal: AbortSignal;
  leftMs(): number;
  end(): void;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

/** A signal that aborts when the caller's does or after the timeout. `end` releases both. */
function startDeadline(outer: AbortSignal | undefined, ms: number): Deadline {
  const inner = new AbortController();
  const endsAt = performance.now() + ms;
  const pass = () => inner.abort(outer?.reason);
  const late = new EloquentPollError(`There was no answer within ${ms / 1_000} s.`, {
    code: 'timeout',
    retryable: true,
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (leftMs: number) => {
    if (leftMs === Number.POSITIVE_INFINITY) return;
    if (leftMs <= 0) return inner.abort(late);
    // A longer timer would fire at once.
    if (leftMs > MAX_TIMER_MS) timer = setTimeout(() => wait(endsAt - performance.now()), MAX_TIMER_MS);
    else timer = setTimeout(() => inner.abort(late), leftMs);
  };
  wait(ms);
  outer?.addEventListener('abort', pass, { once: true });
  if (outer?.aborted) pass();
  return {
    signal: inner.signal,
    leftMs: () => endsAt - performance.now(),
    end() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', pass);
    },
  };
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done, stopped) => {
    const stop = () => {
      clearTimeout(timer);
      stopped(signal?.reason);
    };
    // A longer timer would fire at once.
    const waitMs = Math.min(ms, MAX_TIMER_MS);
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      done();
    }, waitMs);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

// ---------------------------------------------------------------------------------------------------------- pacing

/** Tracks what is left of the service's rate limits, for all calls of one client. Times are of `performance.now`. */
interface Pace {
  /** Resolves when a call may be sent, or when waiting longer is useless and the service should refuse it. */
  turn(budget: string, signal: AbortSignal | undefined, withinMs: number): Promise<void>;
  /** Call the returned function with the response, or with null if there was none. */
  sent(budget: string): (response: Response | null) => void;
}

interface Budget {
  /** Number of calls left. Sent calls count before they are answered. */
  left: number;
  endsAt: number;
  limit: number;
  windowMs: number;
  /** When the call was sent whose answer set these values. Null before any answer. */
  saidAt: number | null;
  unanswered: number;
  /** Calls take turns one by one, in order of arrival. */
  queue: Promise<unknown>;
}

/** The service counts windows in whole seconds. */
const SAME_WINDOW_MS = 1_500;

function createPace(): Pace {
  const budgets = new Map<string, Budget>();

  function budgetNamed(name: string): Budget {
    const known = budgets.get(name);
    if (known) return known;
    const { POSITIVE_INFINITY: unknown } = Number;
    const made = { left: unknown, endsAt: 0, limit: unknown, windowMs: 0, saidAt: null, unanswered: 0 };
    const budget: Budget = { ...made, queue: Promise.resolve() };
    budgets.set(name, budget);
    return budget;
  }

  async function take(budget: Budget, signal: AbortSignal | undefined, until: number): Promise<boolean> {
    for (;;) {
      if (signal?.aborted) return false;
      const pause = pauseBefore(budget);
      if (pause === 0 || pause > MAX_PAUSE_MS || performance.now() + pause > until) break;
      await sleep(pause, signal).catch(() => {});
    }
    budget.left--;
    budget.unanswered++;
    return true;
  }

  return {
    async turn(name, signal, withinMs) {
      const budget = budgetNamed(name);
      const until = performance.now() + withinMs;
      const taking = budget.queue.then(() => take(budget, signal, until));
      budget.queue = taking;
      await unlessAborted(taking, signal).catch((reason: unknown) => {
        void taking.then((taken) => taken && budget.unanswered--);
        throw reason;
      });
    },
    sent(name) {
      const budget = budgetNamed(name);
      const sentAt = performance.now();
      return (response) => {
        budget.unanswered--;
        if (response) learn(budget, response, sentAt);
      };
    },
  };
}

/**
 * Milliseconds until there is a call left. As in the service, a new window starts with the first call after the old
 * one.
 */
function pauseBefore(budget: Budget): number {
  const now = performance.now();
  if (budget.saidAt === null) return budget.unanswered < FIRST_CALLS ? 0 : 20;
  if (now >= budget.endsAt) Object.assign(budget, { left: budget.limit, endsAt: now + budget.windowMs, saidAt: now });
  // With a random part, because many clients wait for the same second.
  return budget.left > 0 ? 0 : budget.endsAt - now + Math.random() * 250;
}

function learn(budget: Budget, { status, headers }: Response, sentAt: number): void {
  const known = budget.saidAt;
  budget.saidAt = known ?? sentAt;
  const number = (name: string) => (/^\d{1,9}$/.test(headers.get(name) ?? '') ? Number(headers.get(name)) : null);
  const isRefused = status === 429;
  const left = number('ratelimit-remaining') ?? (isRefused ? 0 : null);
  const seconds = number('ratelimit-reset') ?? (isRefused ? retryAfter(headers) : null);
  if (left === null || seconds === null) return;
  // The service counts from when the call arrived, which may be long before its answer. A refusal counts from its own
  // time.
  const endsAt = (isRefused ? performance.now() : sentAt) + seconds * 1_000;
  const isSameWindow = Math.abs(endsAt - budget.endsAt) <= SAME_WINDOW_MS;
  if (endsAt <= performance.now() || (!isSameWindow && known !== null && sentAt < known)) return;
  const limit = number('ratelimit-limit') ?? Number.POSITIVE_INFINITY;
  const windows = (headers.get('ratelimit-policy') ?? '').matchAll(/(\d{1,9})\s*;\s*w=(\d{1,7})/g);
  const [, , window] = [...windows].find(([, calls]) => Number(calls) === limit) ?? [];
  budget.left = isSameWindow ? Math.min(budget.left, left) : left;
  // The later end is safe: one of two answers of a window may be a refusal, which counts from its own time.
  budget.endsAt = isSameWindow ? Math.max(budget.endsAt, endsAt) : endsAt;
  budget.saidAt = Math.max(sentAt, budget.saidAt);
  // If the window is unknown or allows no calls at all, nothing is known about the next window.
  budget.limit = window === undefined || limit === 0 ? Number.POSITIVE_INFINITY : limit;
  budget.windowMs = Number(window ?? 0) * 1_000;
}

function unlessAborted(work: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done, stopped) => {
    const stop = () => stopped(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    void work.then(() => {
      signal?.removeEventListener('abort', stop);
      done();
    });
  });
}

// --------------------------------------------------------------------------------------------------------- streams

/**
 * Yields JSON lines as they arrive. If a connection breaks, `next` says how to continue. Attempts are counted since the
 * last new line, so that an answer that always breaks at the same place does not loop forever.
 */
async function* streamLines<T>(
  service: Service,
  next: () => Call,
  isNew: (line: T) => boolean,
  isWhole: (headers: Headers) => boolean = () => true,
): AsyncGenerator<T, void> {
  let call = next();
  const deadline = await service.begin(call);
  try {
    for (let attempt = 0; ; attempt++) {
      const connection = connectionWithin(deadline);
      try {
        const accept = 'application/jsonl, application/problem+json';
        const response = await service.send(call, attempt, deadline, accept, connection.signal);
        let rest = '';
        for await (const piece of piecesUnlessSilent(response, connection.abort)) {
          const lines = (rest + piece).split('\n');
          rest = lines.pop() ?? '';
          if (rest.length > MAX_BODY_CHARACTERS) throw badResponse('A line is too long.', response);
          for (const line of lines) {
            if (line.trim() === '') continue;
            const value = objectIn(line) as T | null;
            if (value === null) throw badResponse('A line is not JSON.', response);
            if (isNew(value)) attempt = 0;
            yield value;
          }
        }
        if (rest === '' && isWhole(response.headers)) return;
        throw new EloquentPollError('The answer broke off.', { code: 'network_error', retryable: true });
      } catch (cause) {
        const error = networkError(cause, deadline.signal);
        const delay = attempt < service.maxRetries ? delayBefore(attempt, error, {}) : null;
        if (delay === null || delay >= deadline.leftMs()) throw error;
        await sleep(delay, deadline.signal);
        call = next();
      } finally {
        connection.end();
      }
    }
  } finally {
    deadline.end();
  }
}

/** Each connection has its own signal, so that a silent one can be replaced. */
function connectionWithin({ signal }: Deadline) {
  const inner = new AbortController();
  const leave = () => inner.abort(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  return {
    signal: inner.signal,
    abort: (reason: unknown) => inner.abort(reason),
    end() {
      signal.removeEventListener('abort', leave);
      inner.abort();
    },
  };
}

/** Yields a body as text, in chunks. `giveUp` is called if none arrives in time. */
async function* piecesUnlessSilent(
  { body }: Response,
  giveUp: (reason: unknown) => void,
): AsyncGenerator<string, void> {
  if (!body) return;
  const silent = new EloquentPollError('The stream fell silent.', { code: 'network_error', retryable: true });
  let hasGivenUp = false;
  const watch = () =>
    setTimeout(() => {
      hasGivenUp = true;
      giveUp(silent);
    }, SILENCE_MS);
  let timer = watch();
  try {
    for await (const piece of textPieces(body)) {
      clearTimeout(timer);
      yield piece;
      timer = watch();
    }
  } catch (cause) {
    throw hasGivenUp ? silent : cause;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * `lastId`: the event or poll to follow from. A stream that follows a poll retries for longer, after its first event.
 */
async function* streamPoll(service: Service, call: Call, lastId = ''): AsyncGenerator<StreamEvent, void> {
  const deadline = await service.begin({ usualMs: POLL_TIMEOUT_MS, ...call });
  let lastSeq = -1;
  let sessionId: string | null = null;
  const isFollowing = lastId !== '';
  let firstMs = FIRST_BACKOFF_MS;
  try {
    for (let attempt = 0; ; attempt++) {
      const connection = connectionWithin(deadline);
      try {
        const resume: Record<string, string> = lastId === '' ? {} : { 'Last-Event-ID': lastId };
        // Resuming counts as reading, not as another poll, and must not wait for a turn to make one.
        const budget = sessionId === null ? budgetOf(call) : `POST ${call.path}`;
        const response = await service.send(
          { ...call, budget, headers: { ...call.headers, ...resume } },
          attempt,
          deadline,
          'text/event-stream, application/problem+json',
          connection.signal,
        );
        for await (const message of sseMessages(response, connection.abort)) {
          firstMs = message.retryMs ?? firstMs;
          const event = readStreamEvent(message, response);
          // After a reconnect, the newest event may be repeated.
          if (event === null || (event.event === 'started' && event.data.seq <= lastSeq)) continue;
          lastId = event.id || lastId;
          lastSeq = event.data.seq;
          sessionId = event.data.session_id;
          attempt = 0;
          yield event;
          if (event.event === 'complete') return;
        }
        throw new EloquentPollError('The stream broke off.', { code: 'network_error', retryable: true });
      } catch (cause) {
        const error = networkError(cause, deadline.signal);
        const isPatient = isFollowing && sessionId !== null;
        const pause = isPatient ? pauseWithoutNews(attempt, error) : delayBefore(attempt, error, { firstMs });
        const delay = (isPatient || attempt < service.maxRetries) && !isVerdict(error) ? pause : null;
        if (delay === null || delay >= deadline.leftMs()) throw error;
        await sleep(delay, deadline.signal);
      } finally {
        connection.end();
      }
    }
  } catch (error) {
    throw withPoll(error, call, sessionId);
  } finally {
    deadline.end();
  }
}

/** True for an `error` event: the poll has run, so it is not retried. */
const isVerdict = (error: unknown): boolean =>
  error instanceof EloquentPollError && error.status === null && error.code !== 'network_error';

/** Null for unknown kinds of events. An `error` event is thrown. */
function readStreamEvent({ event, id, data }: SseMessage, response: Response): StreamEvent | null {
  if (event !== 'started' && event !== 'complete' && event !== 'error') return null;
  const body = objectIn(data);
  if (!body) throw badResponse('An event is not JSON.', response);
  if (event === 'error')
    throw errorFrom(body, { code: 'poll_execution_failed', status: null, headers: response.headers });
  if (typeof body.seq !== 'number') throw badResponse('An event has no number.', response);
  return event === 'complete' ? { event, id, data: body as StreamEnd } : { event, id, data: body as StreamProgress };
}

interface SseMessage {
  event: string;
  data: string;
  id: string;
  retryMs: number | null;
}

async function* sseMessages(response: Response, giveUp: (reason: unknown) => void): AsyncGenerator<SseMessage, void> {
  const type = response.headers.get('content-type') ?? '';
  if (!response.body || !/^text\/event-stream\b/i.test(type)) {
    throw badResponse('The answer is not a stream of events.', response);
  }
  const parse = createSseParser();
  for await (const piece of piecesUnlessSilent(response, giveUp)) yield* parse(piece);
}

/**
 * Parses server-sent events as defined in the HTML standard: lines end with CR, LF or both, an empty line ends an
 * event, a colon starts a comment. An event without its empty line is discarded.
 */
export function createSseParser(): (text: string) => SseMessage[] {
  let rest = '';
  let first = true;
  let afterReturn = false;
  let lastId = '';
  let event = '';
  let data: string[] = [];
  let length = 0;
  let retryMs: number | null = null;

  function takeLine(line: string): SseMessage | null {
    if (line === '') {
      const message =
        data.length === 0 ? null : { event: event || 'message', data: data.join('\n'), id: lastId, retryMs };
      event = '';
      data = [];
      length = 0;
      return message;
    }
    length += line.length;
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
    else if (field === 'id' && !value.includes('\0')) lastId = value;
    else if (field === 'retry' && /^\d+$/.test(value)) retryMs = Number(value);
    return null;
  }

  return (text) => {
    const messages: SseMessage[] = [];
    let from = 0;
    let input = text;
    if (first && input !== '') {
      first = false;
      if (input.startsWith('\ufeff')) input = input.slice(1);
    }
    for (let at = 0; at < input.length; at++) {
      const char = input[at];
      if (char !== '\n' && char !== '\r') {
        afterReturn = false;
        continue;
      }
      // The LF of a CR LF does not end a second line.
      if (char === '\n' && afterReturn) {
        afterReturn = false;
        from = at + 1;
        continue;
      }
      afterReturn = char === '\r';
      const message = takeLine(rest + input.slice(from, at));
      if (message) messages.push(message);
      rest = '';
      from = at + 1;
    }
    rest += input.slice(from);
    if (rest.length + length > MAX_BODY_CHARACTERS) {
      throw new EloquentPollError('An event is too long.', { code: 'bad_response' });
    }
    return messages;
  };
}

/** A body as text, in chunks. Not every browser has async iteration of streams. */
async function* textPieces(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield decoder.decode(value, { stream: true });
    }
    yield decoder.decode();
  } finally {
    await reader.cancel().catch(() => {});
  }
}
