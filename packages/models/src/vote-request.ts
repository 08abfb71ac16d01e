import type { PanelName } from '@eloquentpoll/contracts';
import type { CallPrice } from './call-costs.ts';
import type { PromptStyle } from './prompt-words.ts';

/** What a model is asked for one vote. */
export interface VoteRequest {
  pollId: string;
  modelId: string;
  /** The account of the poll. Undefined for an anonymous one. */
  accountId?: string;
  /** Pseudonym of the caller, for providers that accept one. */
  caller?: string | undefined;
  question: string;
  options: readonly string[];
  /** Place of the model in the poll's asking order. */
  seat: number;
  /** The poll's secret seed, which determines labels, order and nonce. */
  seed: string;
  style: PromptStyle;
  search: boolean;
  /** How many milliseconds this vote may take from now, including waits and retries. */
  deadlineMs: number;
  /** The maximum that may be billed. */
  reserveU: number;
  /** The cost of one call to us. */
  call: CallPrice;
  /** List price divided by the provider's price, in millionths. */
  pricePpm: number;
  /** The panel whose time limits apply in addition to the provider's. */
  panel?: PanelName;
}
