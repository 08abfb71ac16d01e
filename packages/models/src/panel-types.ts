import type { PanelName, RosterPanel } from '@eloquentpoll/contracts';
import type { AskingOrder } from '@eloquentpoll/voting';
import type { Dialect, DialectName } from './dialects.ts';
import type { Price } from './price.ts';

// A checked roster file: all values present, prices as integers.

export const TIMEOUT_NAMES = ['connect_ms', 'first_byte_ms', 'idle_ms', 'total_ms'] as const;

export interface Timeouts {
  /** TCP and TLS. */
  connect_ms: number;
  /** From the request to the first byte of the response's head. */
  first_byte_ms: number;
  /** Between two chunks of the response's body. */
  idle_ms: number;
  /** One vote, including retry and repair. The poll's deadline may be earlier. */
  total_ms: number;
}

export interface Provider {
  name: string;
  dialect: DialectName;
  /** The provider's dialect, with the file's overrides. */
  takes: Dialect;
  /** May contain names of settings in braces, which are filled in before a call. */
  baseUrl: string;
  /** Name of the environment variable with the key. Null if the provider needs none. */
  apiKeyEnv: string | null;
  /** False if the address is not the provider's own, such as a gateway in front of the models. */
  keyRequired: boolean;
  /** Sent with every request. */
  headers: Record<string, string>;
  /** Merged into every request body. */
  extraBody: Record<string, unknown>;
  /** The fee for paying the provider, in millionths. Part of every cost. */
  feePpm: number;
  /** Whether requests carry poll, seat and attempt in headers. Only for our own simulator. */
  traceHeaders: boolean;
  /** Maximum number of connections per process. */
  connections: number;
  timeouts: Partial<Timeouts>;
}

/** How a model reasons: not at all, at low effort, switched off, or always. */
export type Reasoning = 'none' | 'low' | 'off' | 'always';

/** How the answer's form is enforced: strict schema, any JSON object, forced tool call, or a last line of text. */
export type VoteForm = 'json_schema' | 'json_object' | 'tool' | 'line';

export interface SearchVariant {
  /** The model to call instead, if search is a separate model. */
  model: string | null;
  extraBody: Record<string, unknown>;
  /** Micro-USD per call in addition to the tokens. */
  feeU: bigint;
  /** Maximum number of prompt tokens that search results may add. */
  extraInputTokens: number;
}

export interface Model {
  id: string;
  /** The model's name at the provider. */
  name: string;
  provider: string;
  /** The lab that trained it. Panels are diverse by family. */
  family: string;
  openWeight: boolean;
  /** The provider's list price. */
  price: Price;
  /** The provider's fee. */
  feePpm: number;
  /** What the vendor charges for a refused question besides the call, in micro-USD. */
  refusalFeeU: number;
  answer: VoteForm;
  reasoning: Reasoning;
  temperature: boolean;
  seed: boolean;
  /** False if the model rejects the provider's user field. */
  user: boolean;
  maxOutputTokens: number;
  /** The context of a server that cuts longer prompts without an error, else null. */
  contextTokens: number | null;
  p50Ms: number;
  p90Ms: number;
  /** Maximum number of concurrent calls per process. */
  concurrency: number;
  search: SearchVariant | null;
  extraBody: Record<string, unknown>;
}

export interface Panel {
  name: PanelName;
  models: Model[];
  /** Why the panel has these models. Empty if the file does not say. */
  why: string;
  /** The asking order that is used once audits allow it. */
  order: AskingOrder;
  timeouts: Partial<Timeouts>;
}

export interface RosterFile {
  providers: Map<string, Provider>;
  models: Map<string, Model>;
  panels: Map<RosterPanel, Panel>;
}
