import { type Issue, TAG_FLAGS } from '@eloquentpoll/contracts';

// Which texts a poll may contain, when two options are the same text, and when they only look alike. The text is stored
// as sent; the normalised forms below serve comparison only.

/** Control characters other than tabs and line breaks, and marks that override the direction of the following text. */
const CONTROLS = /[^\P{Cc}\t\n\r]|[\u202A-\u202E]/u;
/** Characters that a model reads but a person does not see. */
const TAGS = /[\u{E0000}-\u{E007F}]/u;

/** Assumes a valid shape: 2 to 10 strings of legal length. `field` is the caller's name for them. */
export function optionIssues(options: readonly string[], field = 'options'): Issue[] {
  const issues: Issue[] = [];
  const seen = new Map<string, number>();
  for (const [index, text] of options.entries()) {
    const form = textForm(text);
    const twin = seen.get(form);
    const name = `${field}[${index}]`;
    const problem = holdsHidden(text)
      ? `${name} must not hold control, direction override or tag characters`
      : comparisonKey(text) === ''
        ? `${name} must not be blank`
        : twin !== undefined
          ? `${field} must be unique: ${field}[${twin}] ${quoted(options[twin])} and ${name} ${quoted(text)} are the same text`
          : null;
    if (problem) issues.push({ pointer: `#/${field}/${index}`, detail: problem });
    else seen.set(form, index);
  }
  return issues;
}

/** Options that a reader may confuse, because only case, width, form or spacing differ. Not an error. */
export function lookAlikes(options: readonly string[], field = 'options'): string[] {
  const seen = new Map<string, number>();
  return options.flatMap((text, index) => {
    const key = comparisonKey(text);
    const twin = seen.get(key);
    if (twin === undefined) seen.set(key, index);
    return twin === undefined
      ? []
      : [`${field}[${twin}] ${quoted(options[twin])} and ${field}[${index}] ${quoted(text)} look alike to a reader`];
  });
}

export function questionIssues(question: string, field = 'question'): Issue[] {
  const problem =
    /[^\P{Cc}\t\n\r]/u.test(question) || holdsTags(question)
      ? `${field} must not hold control or tag characters`
      : comparisonKey(question) === ''
        ? `${field} must not be blank`
        : null;
  return problem ? [{ pointer: `#/${field}`, detail: problem }] : [];
}

const holdsTags = (text: string): boolean => TAGS.test(text) && TAGS.test(text.replace(TAG_FLAGS, ''));
const holdsHidden = (text: string): boolean => CONTROLS.test(text) || holdsTags(text);

/** Equal for equal texts: NFC, trimmed, without invisible characters other than joiners. */
function textForm(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(SHOWN_OR_IGNORED, (part) => (part.length > 2 || JOINERS.has(part) ? part : ''))
    .normalize('NFC')
    .trim();
}

/** A whole flag, whose tag characters are visible, or one invisible character. */
const SHOWN_OR_IGNORED = new RegExp(`${TAG_FLAGS.source}|[\\p{Default_Ignorable_Code_Point}\\uFFF9-\\uFFFB]`, 'gu');
/** ZWNJ and ZWJ distinguish words in several scripts, and emoji. */
const JOINERS: ReadonlySet<string> = new Set(['\u200C', '\u200D']);

/** Equal for texts that differ only in width, form, case, spacing or invisible characters. */
export function comparisonKey(text: string): string {
  return fold(text.normalize('NFKC').replace(SHOWN_OR_HIDDEN, (part) => (part.length > 2 ? part : '')))
    .replace(/\p{White_Space}+/gu, ' ')
    .trim();
}

const SHOWN_OR_HIDDEN = new RegExp(`${TAG_FLAGS.source}|[\\p{Cf}\\p{Default_Ignorable_Code_Point}]`, 'gu');

/** Case folding: `ẞ`, `ß` and `SS` become `ss`. Folding can break the normal form, so normalisation comes last. */
const fold = (text: string): string => text.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC');

const quoted = (text: string | undefined): string => JSON.stringify(text);
