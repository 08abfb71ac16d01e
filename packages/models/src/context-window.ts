import type { Model } from './panel-types.ts';
import type { Usage } from './read-answer.ts';

// Whether a server dropped the middle of a prompt that is longer than its context, as Ollama does without an error. It shows
// in the tokens that it counted.

/** More than the tokens of any language stand for. */
const MAX_CHARACTERS_PER_TOKEN = 8;
/** Tokens that Ollama keeps of the beginning. */
const KEPT = 4;

/** False where the file gives no context, or the provider counted nothing. */
export function isCutPrompt(
  { contextTokens }: Pick<Model, 'contextTokens'>,
  usage: Usage | null,
  prompt: string,
): boolean {
  if (contextTokens === null || usage === null) return false;
  const { inputTokens } = usage;
  // Cut to the whole context, or to its half where the server shifts it.
  const cutTo = [contextTokens, KEPT + Math.floor((contextTokens - KEPT) / 2)];
  if (cutTo.includes(inputTokens)) return true;
  const leastTokens = prompt.length / MAX_CHARACTERS_PER_TOKEN;
  return leastTokens > contextTokens && leastTokens > inputTokens;
}
