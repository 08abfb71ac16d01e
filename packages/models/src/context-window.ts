import type { Model } from './panel-types.ts';
import type { Usage } from './read-answer.ts';

// Detects that a server dropped the middle of a prompt that is longer than its context, as Ollama does without an
// error. The number of counted tokens shows it.

/** More than the average in any language. */
const MAX_CHARACTERS_PER_TOKEN = 8;
/** Tokens that Ollama keeps from the beginning. */
const KEPT = 4;

/** False if the roster file has no context size or the provider counted no tokens. */
export function isCutPrompt(
  { contextTokens }: Pick<Model, 'contextTokens'>,
  usage: Usage | null,
  prompt: string,
): boolean {
  if (contextTokens === null || usage === null) return false;
  const { inputTokens } = usage;
  // Cut to the whole context, or to half of it if the server shifts it.
  const cutTo = [contextTokens, KEPT + Math.floor((contextTokens - KEPT) / 2)];
  if (cutTo.includes(inputTokens)) return true;
  const leastTokens = prompt.length / MAX_CHARACTERS_PER_TOKEN;
  return leastTokens > contextTokens && leastTokens > inputTokens;
}
