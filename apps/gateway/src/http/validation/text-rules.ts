import { type Issue, LIMITS } from '@eloquentpoll/contracts';
import { fieldName } from './describe-issue.ts';

// Text that no request may contain anywhere: NUL, which Postgres cannot store; lone surrogates, which are not text;
// members named `__proto__`, which are an attack. They cause a 400, never an error of a store.

/** The first such fault in a value, including its member names. */
export function uncleanIn(value: unknown, path = '', depth = 1): Issue | null {
  if (typeof value === 'string') return isClean(value) ? null : issue(path, NOT_TEXT);
  if (typeof value !== 'object' || value === null) return null;
  if (depth > LIMITS.json_depth) return issue('', `must not nest deeper than ${LIMITS.json_depth} levels`);
  for (const [name, member] of Object.entries(value)) {
    if (name === '__proto__') return issue(path, 'must not have a member named __proto__');
    if (!isClean(name)) return issue(path, NOT_TEXT);
    if (typeof member === 'string' && isClean(member)) continue;
    const found = uncleanIn(member, `${path}/${escaped(name)}`, depth + 1);
    if (found) return found;
  }
  return null;
}

const NOT_TEXT = 'must not hold NUL characters or lone surrogates';

const isClean = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Escaped for a JSON pointer (RFC 6901). */
const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

const issue = (path: string, problem: string): Issue => ({
  pointer: `#${path}`,
  detail: `${fieldName(path)} ${problem}`,
});
