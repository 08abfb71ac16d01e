import { readFileSync } from 'node:fs';
import { Failure } from '@eloquentpoll/launch/failure';

// A test file that takes longer than MAX_QUICK_S must say so in a line such as "// slow: 18 s". The quick run leaves it
// out, and a clone without measured times starts it early.

export const MAX_QUICK_S = 3;

const TAG = /^\/\/ slow: (\d+) s$/m;
const ATTEMPT = /^\s*(?:\/\/|\/?\*)\s*slow\b.*$/im;

/** The seconds that a file declares, or null if it is not slow. */
export function slowSeconds(file: string): number | null {
  const source = readFileSync(file, 'utf8');
  const seconds = TAG.exec(source)?.[1];
  if (seconds !== undefined) return Number(seconds);
  const attempt = ATTEMPT.exec(source)?.[0].trim();
  if (attempt) throw new Failure(`${file} says "${attempt}": a slow file has the line "// slow: 18 s".`);
  return null;
}
