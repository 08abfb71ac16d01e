import type { PanelName, RosterPanel } from '@eloquentpoll/contracts';
import type { AskingOrder } from '@eloquentpoll/voting';
import type { Dialect, DialectName } from './dialects.ts';
import type { Price } from './price.ts';

// A roster file after it was checked: everything present, prices as whole numbers.

export const TIMEOUT_NAMES = ['connect_ms', 'first_byte_ms', 'idle_ms', 'total_ms'] as const;

export interface Timeouts {
  /** TCP and TLS. */
  connect_ms: number;
  /** From the request to the first byte of the answer's head. */
  first_byte_ms: number;
  /** Between two pieces of the answer's body. */
  idle_ms: number;
  /** One vote, retry and repair included; the poll's own deadline may be nearer. */
  total_ms: number;
}

export interface Provider {
  name: string;
  dialect: DialectName;
  /** What it takes: its dialect's, with what the file says otherwise. */
  takes: Dialect;
  /** Names of settings in braces are filled in where the provider is asked. */
  baseUrl: string;
  /** Name of the environment variable that holds the key; null where the provider wants none. */
  apiKeyEnv: string | null;
  /** False where the address is not the provider's own, such as that of a gateway in front of the models. */
  keyRequired: boolean;
  /** Sent with every request. */
  headers: Record<string, string>;
  /** Merged into every request body. */
  extraBody: Record<string, unknown>;
  /** What a payment to it costs besides, in millionths: it is part of every cost. */
  feePpm: number;
  /** Whether requests say which poll, seat and attempt they belong to. Only for our own simulator. */
  traceHeaders: boolean;
  /** Open connections per process. */
  connections: number;
  timeouts: Partial<Timeouts>;
}

/** How a model is asked to reason: it cannot, it does so at low effort, reasoning is switched off, or it cannot be. */
export type Reasoning = 'none' | 'low' | 'off' | 'always';

/** The rung of the ladder: strict schema, any JSON object, forced tool call, or a last line. */
export type VoteForm = 'json_schema' | 'json_object' | 'tool' | 'line';

export interface SearchVariant {
  /** Model id to call instead, where search is another model. */
  model: string | null;
  extraBody: Record<string, unknown>;
  /** Micro-USD per call on top of the tokens. */
  feeU: bigint;
  /** Prompt tokens that search results may add. */
  extraInputTokens: number;
}

export interface Model {
  id: string;
  /** Its name at the provider. */
  name: string;
  provider: string;
  /** Who trained it: the unit of diversity in a panel. */
  family: string;
  openWeight: boolean;
  /** As its provider lists it. */
  price: Price;
  /** Its provider's. */
  feePpm: number;
  answer: VoteForm;
  reasoning: Reasoning;
  temperature: boolean;
  seed: boolean;
  /** False where the model turns the provider's user field away. */
  user: boolean;
  maxOutputTokens: number;
  /** Of its server, where that cuts longer prompts without an error; else null. */
  contextTokens: number | null;
  p50Ms: number;
  p90Ms: number;
  /** Calls under way at once per process. */
  concurrency: number;
  search: SearchVariant | null;
  extraBody: Record<string, unknown>;
}

export interface Panel {
  name: PanelName;
  models: Model[];
  /** Why these models; empty where the file does not say. */
  why: string;
  /** In which its models are asked, once audits have shown that they may be. */
  order: AskingOrder;
  timeouts: Partial<Timeouts>;
}

export interface RosterFile {
  providers: Map<string, Provider>;
  models: Map<string, Model>;
  panels: Map<RosterPanel, Panel>;
}
