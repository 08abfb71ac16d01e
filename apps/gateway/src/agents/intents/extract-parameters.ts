import { LIMITS, PRESETS } from '@eloquentpoll/contracts';
import type { IntentId, KnownIntent } from './catalogue.ts';
import { phrasePattern, readPollInText } from './poll-in-text.ts';

// Reads an intent's parameters from a text. Only what the text states is used: nothing that costs money is guessed.

export interface Extracted {
  parameters: Record<string, unknown>;
  /** Evidence from the form of the text alone, such as a group of options: 0 to 1. */
  form: number;
}

type Reader = (text: string) => Extracted;

export function readerOf(intent: KnownIntent): Reader {
  const phrases = intent.trigger_phrases.map(phrasePattern);
  const polls = { options: LIMITS.options.max, option: LIMITS.options.length };
  const free = { question: LIMITS.free.question, options: LIMITS.free.options, option: LIMITS.free.option };
  const readers: Record<IntentId, Reader> = {
    run_poll: (text) => poll(text, phrases, polls, 0.7, 0.45),
    // Slightly higher, because it is free and needs no account.
    quick_poll: (text) => poll(text, phrases, free, 0.75, 0.5),
    dry_run: (text) => poll(text, phrases, polls, 0, 0),
    estimate_cost: (text) => plain({ options: optionCount(text), preset: preset(text) }),
    get_result: (text) => withResult(text, (resultId) => ({ resultId }), 0.6),
    check_balance: () => plain({}),
    add_funds: (text) => plain({ amount_usd: amount(text) }),
    list_models: (text) => plain({ available_only: /\bavailable\b/i.test(text) ? 'true' : undefined }),
    submit_feedback: (text) => withResult(text, (poll_id) => ({ poll_id, outcome_correct: judgement(text) }), 0.3),
    get_code_example: (text) => plain({ language: language(text) }),
  };
  return readers[intent.id];
}

function poll(
  text: string,
  phrases: readonly RegExp[],
  limits: Parameters<typeof readPollInText>[2],
  grouped: number,
  named: number,
): Extracted {
  const { grouped: isGrouped, ...parameters } = readPollInText(text, phrases, limits);
  const asksForChoice = parameters.options !== undefined && text.trimEnd().endsWith('?');
  return { parameters, form: isGrouped ? grouped : asksForChoice ? named : 0 };
}

const plain = (parameters: Record<string, unknown>): Extracted => ({
  parameters: Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined)),
  form: 0,
});

function withResult(text: string, read: (id: string | undefined) => Record<string, unknown>, form: number): Extracted {
  const id = /\bEP-\d{4}-\d\d-\d\d-[0-9a-hjkmnp-tv-z]{16}\b/.exec(text)?.[0];
  return { ...plain(read(id)), form: id === undefined ? 0 : form };
}

function optionCount(text: string): number | undefined {
  const count = Number(/\b(\d{1,2}) (?:options|choices|answers)\b/i.exec(text)?.[1] ?? Number.NaN);
  return count >= LIMITS.options.min && count <= LIMITS.options.max ? count : undefined;
}

const preset = (text: string): string | undefined =>
  PRESETS.find((name) => new RegExp(`\\b${name} (?:poll|preset|models)\\b|\\bpreset ${name}\\b`, 'i').test(text));

function amount(text: string): number | undefined {
  const found = /\$ ?(\d{1,4}(?:\.\d{1,2})?)(?![\d.]*\d)|\b(\d{1,4}(?:\.\d{1,2})?) ?(?:usd|usdc|dollars?)\b/i.exec(
    text,
  );
  const usd = Number(found?.[1] ?? found?.[2] ?? Number.NaN);
  return usd >= LIMITS.deposit_usd.min && usd <= LIMITS.deposit_usd.max ? usd : undefined;
}

function judgement(text: string): boolean | undefined {
  const wrong = /\b(?:wrong|incorrect|false|mistaken|not (?:correct|right|true))\b/i.test(text);
  const right = /\b(?:correct|right|true)\b/i.test(text);
  return wrong ? false : right ? true : undefined;
}

const LANGUAGES: [name: string, pattern: RegExp][] = [
  ['mcp-config', /\bmcp\b/i],
  ['typescript', /\b(?:typescript|javascript|node|deno|bun|ts|js)\b/i],
  ['python', /\bpython\b/i],
  ['curl', /\b(?:curl|shell|bash)\b/i],
];

const language = (text: string): string | undefined => LANGUAGES.find(([, pattern]) => pattern.test(text))?.[0];
