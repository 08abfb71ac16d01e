import type { IntentMatch, IntentMatches } from '@eloquentpoll/contracts';
import { INTENTS, type KnownIntent } from './catalogue.ts';
import { readerOf } from './extract-parameters.ts';
import { phraseScorer, wordsOf } from './score-phrases.ts';

// Which intents a text speaks of, best first. A pure function of the text: no model is called, nothing is remembered.

const LEAST_SCORE = 0.3;
const MOST_MATCHES = 5;
/** A text with a group of options is a poll, and words in its question ask for nothing. */
const IN_A_POLL = 0.6;
const POLLS: ReadonlySet<string> = new Set(['run_poll', 'quick_poll', 'dry_run']);

const scorer = phraseScorer(new Map(INTENTS.map(({ id, trigger_phrases }) => [id, trigger_phrases])));
const readers = INTENTS.map((intent: KnownIntent) => ({ intent, read: readerOf(intent) }));

export function matchIntents(text: string): IntentMatches {
  const scores = scorer(wordsOf(text));
  const read = readers.map(({ intent, read }) => ({ intent, ...scores.get(intent.id)!, ...read(text) }));
  const isPoll = read.some(({ intent, form }) => intent.id === 'run_poll' && form >= IN_A_POLL);
  const matches = read
    .map(({ intent, score, matched, parameters, form }): IntentMatch => {
      const said = isPoll && !POLLS.has(intent.id) ? score * IN_A_POLL : score;
      return {
        intent_id: intent.id,
        name: intent.name,
        score: Math.round(Math.max(said, form) * 1_000) / 1_000,
        matched_phrases: matched,
        parameters,
        missing_parameters: requiredOf(intent).filter((name) => !Object.hasOwn(parameters, name)),
        endpoint: { ...intent.endpoint },
      };
    })
    .filter(({ score }) => score >= LEAST_SCORE)
    .toSorted((a, b) => b.score - a.score || (a.intent_id < b.intent_id ? -1 : 1))
    .slice(0, MOST_MATCHES);
  return { text, matches, best_match: matches[0] ?? null };
}

function requiredOf({ parameters }: KnownIntent): string[] {
  const { required } = parameters as { required?: string[] };
  return required ?? [];
}
