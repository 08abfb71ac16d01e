// What a fake of a model vendor knows of its original; docs/providers.md says where each of it was read.

export type Json = Record<string, unknown>;

export interface ErrorAnswer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

export interface AskedVote {
  body: Json;
  model: string;
  /** The labels of the question in the order in which they were shown. */
  labels: string[];
}

/** How a vote came out: its text, or what the filter or the token limit made of it. */
export interface Outcome {
  text: string | null;
  end: 'done' | 'refused' | 'cut';
  inputTokens: number;
  /** Of the answer alone. */
  outputTokens: number;
  reasoningTokens: number;
  /** False: the reply counts no tokens. */
  counted: boolean;
}

export interface Vendor {
  path: string;
  keyHeader: string;
  models: readonly string[];
  unauthorized: ErrorAnswer;
  unknownModel(model: string): ErrorAnswer;
  /** What is wrong with the request; null where the vendor takes it. */
  complaint(asked: AskedVote): ErrorAnswer | null;
  completion(asked: AskedVote, outcome: Outcome): Json;
  /** Null: the vendor refuses inside a completion. */
  refusal: ErrorAnswer | null;
  /** Where the vendor reads the answer itself, and turns away one without the form that was asked for. */
  unreadable?: ErrorAnswer;
  rateLimited: ErrorAnswer;
  /** No credit, or the spend limit, one after the other; empty where no such answer is documented. */
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
