import type { PanelName } from '@eloquentpoll/contracts';
import type { PromptStyle } from './prompt-words.ts';

/** What a model is asked for one vote. */
export interface VoteRequest {
  pollId: string;
  modelId: string;
  /** Whose poll it is; left out for an anonymous one. */
  accountId?: string;
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
  /** Whose time limits apply on top of the provider's. */
  panel?: PanelName;
}
