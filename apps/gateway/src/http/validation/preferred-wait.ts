// `Prefer: wait=10` (RFC 7240): how long a caller is willing to wait. An unreadable preference is ignored and never an
// error; of several the first one counts.

/** One preference up to the comma; commas inside quotes belong to it. */
const PREFERENCE = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g;
/** No two whitespace runs are adjacent: a malformed header would otherwise be matched in every possible split. */
const WAIT = /^\s*wait\s*(?:=\s*("?)(\d+)\1\s*)?(;.*)?$/is;

/** Whole seconds, at most `maxS`; null without a usable preference. */
export function preferredWait(prefer: string | undefined, maxS: number): number | null {
  if (prefer === undefined) return null;
  for (const preference of prefer.match(PREFERENCE) ?? []) {
    if (!/^\s*wait\s*(?:[=;]|$)/i.test(preference)) continue;
    const digits = WAIT.exec(preference)?.[2] ?? '';
    return digits === '' ? null : Math.min(Number(digits), maxS);
  }
  return null;
}
