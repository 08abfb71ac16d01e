import type { PanelName } from '@eloquentpoll/contracts';
import type { CallPrice } from './call-costs.ts';
import type { PromptStyle } from './prompt-words.ts';

/** What a model is asked for one vote. */
export interface VoteRequest {
  pollId: string;
  modelId: string;
  /** Whose poll it is; left out for an anonymous one. */
  accountId?: string;
  /** Pseudonym of who asks, for providers that take one. */
  caller?: string | undefined;
  question: string;
  options: readonly string[];
  /** Place of the model in the poll's order of asking. */
  seat: number;
  /** The poll's secret seed: labels, order and nonce follow from it. */
  seed: string;
  style: PromptStyle;
  search: boolean;
  /** Milliseconds this vote may take from now, waits and retries included. */
  deadlineMs: number;
  /** The most that may be billed. */
  reserveU: number;
  /** What one call costs us. */
  call: CallPrice;
  /** List price by the provider's price, in millionths. */
  pricePpm: number;
  /** Whose time limits apply on top of the provider's. */
  panel?: PanelName;
}
