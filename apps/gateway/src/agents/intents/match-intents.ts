import type { IntentMatch, IntentMatches } from '@eloquentpoll/contracts';
import { INTENTS, type KnownIntent } from './catalogue.ts';
import { readerOf } from './extract-parameters.ts';
import { phraseScorer, wordsOf } from './score-phrases.ts';

// Ranks intents for a text. A pure function: no model is called and nothing is stored.

const MIN_SCORE = 0.3;
const MAX_MATCHES = 5;
/** A text with a group of options is a poll; the trigger phrases of other intents in it count only this much. */
const IN_A_POLL = 0.6;
const POLLS: ReadonlySet<string> = new Set(['run_poll', 'quick_poll', 'dry_run']);

const made = new WeakMap<readonly KnownIntent[], Matcher>();

/** Compiled for the first text, because there are hundreds of patterns. */
const makeMatcher = (intents: readonly KnownIntent[]) => ({
  scorer: phraseScorer(new Map(intents.map(({ id, trigger_phrases }) => [id, trigger_phrases]))),
  readers: intents.map((intent) => ({ intent, read: readerOf(intent) })),
});
type Matcher = ReturnType<typeof makeMatcher>;

export function rankIntents(text: string, intents: readonly KnownIntent[] = INTENTS): IntentMatches {
  const { scorer, readers } = matcherOf(intents);
  const scores = scorer(wordsOf(text));
  const read = readers.map(({ intent, read }) => ({ intent, ...scores.get(intent.id)!, ...read(text) }));
  const isPoll = read.some(({ intent, form }) => intent.id === 'run_poll' && form >= IN_A_POLL);
  const matches = read
    .map(({ intent, score, matched, parameters, form }): IntentMatch => {
      const byWords = isPoll && !POLLS.has(intent.id) ? score * IN_A_POLL : score;
      return {
        intent_id: intent.id,
        name: intent.name,
        score: Math.round(Math.max(byWords, form) * 1_000) / 1_000,
        matched_phrases: matched,
        parameters,
        missing_parameters: requiredOf(intent).filter((name) => !Object.hasOwn(parameters, name)),
        endpoint: { ...intent.endpoint },
      };
    })
    .filter(({ score }) => score >= MIN_SCORE)
    .toSorted((a, b) => b.score - a.score || (a.intent_id < b.intent_id ? -1 : 1))
    .slice(0, MAX_MATCHES);
  return { text, matches, best_match: matches[0] ?? null };
}

function matcherOf(intents: readonly KnownIntent[]): Matcher {
  const matcher = made.get(intents) ?? makeMatcher(intents);
  made.set(intents, matcher);
  return matcher;
}

function requiredOf({ parameters }: KnownIntent): string[] {
  const { required } = parameters as { required?: string[] };
  return required ?? [];
}
