/** The maker of a model, by its recorded name. A name that is not known here is a family of its own. */
export function makerOf(model: string): string {
  const known = MAKERS.find(([pattern]) => pattern.test(model));
  return known === undefined ? model : known[1];
}

const MAKERS: readonly (readonly [RegExp, string])[] = [
  [/^gem(ini|ma)\b/i, 'google'],
  [/^(meta-)?llama\b/i, 'meta'],
  [/^(mistral|mixtral|mathstral|codestral|ministral)\b/i, 'mistral'],
  [/^deepseek\b/i, 'deepseek'],
  [/^qwen/i, 'alibaba'],
  [/^jamba\b/i, 'ai21'],
  [/^phi\b/i, 'microsoft'],
  [/^yi\b/i, '01-ai'],
  [/^(c4ai|command)\b/i, 'cohere'],
  [/^(gpt|o\d)\b/i, 'openai'],
  [/^claude\b/i, 'anthropic'],
];
