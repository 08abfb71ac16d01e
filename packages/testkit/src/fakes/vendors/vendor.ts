// What a fake model vendor knows of the real one; docs/providers.md gives the source of each rule.

export type Json = Record<string, unknown>;

export interface ErrorAnswer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

export interface AskedVote {
  body: Json;
  model: string;
  /** The labels of the options, in the order shown. */
  labels: string[];
}

/** The outcome of a vote: its text, or the effect of the content filter or token limit. */
export interface Outcome {
  text: string | null;
  end: 'done' | 'refused' | 'cut';
  inputTokens: number;
  /** Tokens of the answer alone. */
  outputTokens: number;
  reasoningTokens: number;
  /** False: the reply contains no token counts. */
  counted: boolean;
}

export interface Vendor {
  path: string;
  keyHeader: string;
  models: readonly string[];
  unauthorized: ErrorAnswer;
  unknownModel(model: string): ErrorAnswer;
  /** What is wrong with the request; null if the vendor accepts it. */
  complaint(asked: AskedVote): ErrorAnswer | null;
  completion(asked: AskedVote, outcome: Outcome): Json;
  /** Null: the vendor refuses within a completion. */
  refusal: ErrorAnswer | null;
  /** Only for vendors that parse the answer themselves and reject one without the requested format. */
  unreadable?: ErrorAnswer;
  rateLimited: ErrorAnswer;
  /** Answers for no credit and for the spend limit, used in turn; empty if no such answer is documented. */
  spent: readonly ErrorAnswer[];
  overloaded: ErrorAnswer;
}

/** Fields of `body` that are not among `known`. */
export const unknownFields = (body: Json, known: string): string[] =>
  Object.keys(body).filter((name) => !known.split(' ').includes(name));

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function hasTwoUserTurns({ messages }: Json): boolean {
  const roles = Array.isArray(messages) ? messages.map((message: unknown) => isObject(message) && message.role) : [];
  return roles.some((role, i) => role === 'user' && roles[i + 1] === 'user');
}

export const formatOf = ({ response_format }: Json): string =>
  isObject(response_format) ? String(response_format.type) : 'text';
