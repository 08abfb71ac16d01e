import { LIMITS } from '@eloquentpoll/contracts';
import { parseShorthand } from '@eloquentpoll/contracts/shorthand';
import { optionIssues } from '../../http/validation/option-rules.ts';
import { namedChoices } from '../../polls/order/supplied-options.ts';

// Reads a poll from free text: removes the leading trigger phrase and parses the rest as quick-poll shorthand.

export interface PollInText {
  question?: string;
  options?: string[];
  /** The options were written as a group, so the text is certainly a poll. */
  grouped: boolean;
}

interface Limits {
  question?: number;
  options: number;
  option: number;
}

/** Connecting words between the trigger phrase and the question. */
const LINK = /^(?:[\s:,.\u2013\u2014-]+|(?:on|about|whether|if|for|this|the question|to answer|to vote on)\b)/iu;
/** Leaves space for `please`, `can you` and the like; a phrase after that does not lead the text. */
const MAX_LEAD_CHARACTERS = 30;
const MAX_LINKS = 6;

export function readPollInText(text: string, phrases: readonly RegExp[], limits: Limits): PollInText {
  const asked = afterPhrase(text, phrases);
  const parsed = parseShorthand(asked ?? text);
  if (!parsed.ok) return { grouped: false };
  const { question, options } = parsed.value;
  const isQuestion = asked !== null || options !== null || question.endsWith('?');
  const length = [...question].length;
  if (!isQuestion || length < LIMITS.question.min || length > (limits.question ?? Infinity)) {
    return { grouped: options !== null };
  }
  const named = options ?? namedChoices(question.split(/\s+/).join(' '));
  return { question, ...(named && fits(named, limits) && { options: named }), grouped: options !== null };
}

/** The text after its leading trigger phrase; null if it has none. */
function afterPhrase(text: string, phrases: readonly RegExp[]): string | null {
  let end = -1;
  for (const phrase of phrases) {
    const found = phrase.exec(text);
    if (found && found.index <= MAX_LEAD_CHARACTERS) end = Math.max(end, found.index + found[0].length);
  }
  if (end < 0) return null;
  let rest = text.slice(end);
  for (let links = 0; links < MAX_LINKS; links++) {
    const link = LINK.exec(rest);
    if (!link) break;
    rest = rest.slice(link[0].length);
  }
  return rest;
}

function fits(options: readonly string[], limits: Limits): boolean {
  return (
    options.length >= LIMITS.options.min &&
    options.length <= limits.options &&
    options.every((option) => [...option].length <= limits.option) &&
    optionIssues(options).length === 0
  );
}

/** Matches a phrase as whole words, in any case and with any spaces. */
export const phrasePattern = (phrase: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])${phrase.split(' ').join('\\s+')}(?![\\p{L}\\p{N}])`, 'iu');
