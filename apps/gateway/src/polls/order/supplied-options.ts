import { LIMITS } from '@eloquentpoll/contracts';
import { lookAlikes, optionIssues } from '../../http/validation/option-rules.ts';

// Supplies options for a question that has none, by its wording. No model is called, and equal questions get equal
// options. The time is linear in the length of the question.

const YES_NO =
  /^(?:is|are|am|was|were|do|does|did|can|could|should|shall|would|will|has|have|had|may|might|must)(?:n't)? /i;
const SCALE =
  /\b(?:how (?:likely|probable|confident|important|good|bad|risky|safe|hard|difficult|easy)|rate|rating)\b/i;
/** An asking clause before the choices: "Which is better, A or B?" */
const ASKS = /^(?:which|what|who|whom|where|when|how|why)\b/i;
/** Text after the last choice: "Which of A or B is faster?", "Is it A or B that we need?", "Is A or B better?" */
const PREDICATE =
  / (?:is|are|was|were|would|will|should|could|can|does|do|has|have|that|which|who|(?:better|best|easier|faster|cheaper|safer) (?:for|at|in|to|with)) .*$/i;

export function suppliedOptions(question: string): string[] {
  const text = question.trim().split(/\s+/).join(' ');
  return (
    namedChoices(text) ??
    (YES_NO.test(text) ? ['Yes', 'No'] : null) ??
    (SCALE.test(text) ? ['Very low', 'Low', 'Medium', 'High', 'Very high'] : null) ?? ['Yes', 'No', 'It depends']
  );
}

/** The choices in the question itself: "Should we use A, B or C?", "A vs B", "between A and B". */
export function namedChoices(question: string): string[] | null {
  const text = withoutEndMarks(question);
  const phrases = between(text) ?? alternatives(text);
  if (!phrases) return null;
  const choices = phrases.flatMap((phrase) => phrase.split(',')).map((phrase) => phrase.trim());
  const named = choices.filter((choice) => choice !== '');
  if (named.length < LIMITS.options.min || named.length > LIMITS.free.options) return null;
  if (named.some((choice) => choice.length > LIMITS.free.option)) return null;
  return optionIssues(named).length + lookAlikes(named).length === 0 ? named : null;
}

function withoutEndMarks(text: string): string {
  let end = text.length;
  while (end > 0 && '?.! '.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}

function between(text: string): string[] | null {
  const from = text.search(/ between /i);
  const and = text.lastIndexOf(' and ');
  return from < 0 || and <= from
    ? null
    : [text.slice(from + ' between '.length, and), text.slice(and + ' and '.length)];
}

function alternatives(text: string): string[] | null {
  const [first = '', ...rest] = text.split(/,? (?:or|vs\.?|versus) /i);
  // "Is it ready or not?" offers only yes and no.
  if (rest.length === 0 || /^not?\b/i.test(rest.at(-1)!)) return null;
  return [...firstChoices(first), ...rest.slice(0, -1), rest.at(-1)!.replace(PREDICATE, '')];
}

/** Removes the part of the question before the choices: up to a colon, an asking clause, or all but the last word. */
function firstChoices(text: string): string[] {
  const colon = text.lastIndexOf(':');
  if (colon >= 0) return [text.slice(colon + 1)];
  const [head = '', ...list] = text.split(',');
  if (list.length > 0 && ASKS.test(head) && !/^which of /i.test(head)) return list;
  return [head.split(' ').at(-1)!, ...list];
}
