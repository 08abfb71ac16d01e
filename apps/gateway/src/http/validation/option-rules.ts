import type { Issue } from '@eloquentpoll/contracts';

// Options must not be blank, hold hidden characters or look the same to a reader. The text is stored as it was sent; the
// comparison key is only for comparing.

/** Control characters, and the marks that override the direction of what follows. */
const CONTROLS = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/u;
/** Characters that a model reads and a person does not see. */
const TAGS = /[\u{E0000}-\u{E007F}]/u;

/** Assumes that the shape is right: 2 to 10 strings of legal length. `field` is what the caller called them. */
export function optionIssues(options: readonly string[], field = 'options'): Issue[] {
  const issues: Issue[] = [];
  const seen = new Map<string, number>();
  for (const [index, text] of options.entries()) {
    const key = comparisonKey(text);
    const twin = seen.get(key);
    const name = `${field}[${index}]`;
    const problem =
      CONTROLS.test(text) || TAGS.test(text)
        ? `${name} must not hold control, direction override or tag characters`
        : key === ''
          ? `${name} must not be blank`
          : twin !== undefined
            ? `${field} must be unique: ${field}[${twin}] ${quoted(options[twin])} and ${name} ${quoted(text)} look the same`
            : null;
    if (problem) issues.push({ pointer: `#/${field}/${index}`, detail: problem });
    else seen.set(key, index);
  }
  return issues;
}

/** Tabs and line breaks are fine in a question; other control characters and tags are not. */
export function questionIssues(question: string, field = 'question'): Issue[] {
  const problem =
    /[^\P{Cc}\t\n\r]/u.test(question) || TAGS.test(question)
      ? `${field} must not hold control or tag characters`
      : comparisonKey(question) === ''
        ? `${field} must not be blank`
        : null;
  return problem ? [{ pointer: `#/${field}`, detail: problem }] : [];
}

/** Equal for texts that differ only in width, form, case, spacing or invisible characters. */
export function comparisonKey(text: string): string {
  return fold(text.normalize('NFKC').replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, ''))
    .replace(/\p{White_Space}+/gu, ' ')
    .trim();
}

/** Case folding: `ẞ`, `ß` and `SS` become `ss`. It can undo the normal form, so that comes last. */
const fold = (text: string): string => text.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC');

const quoted = (text: string | undefined): string => JSON.stringify(text);
