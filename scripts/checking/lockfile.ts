import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// The lockfile may name packages only by version and hash: no package without a hash, none from a git host, a folder or
// a URL. A registry then cannot swap a package, and a manual edit that allows it is found here.

const ENTRY = /^ {2}'?(@?[^@'\s]+@[^:']+)'?:$/;
const SOUND = /^ {4}resolution: \{integrity: sha512-[A-Za-z0-9+/]{86}==\}$/;
/** Free text by a package's author, which is not checked. */
const PROSE = /^ {4}deprecated: /;
const FOREIGN = /\b(?:https?|git|ssh|file):\/\/|\bgit\+|\bgithub:|codeload|tarball:/;

export function lockfileProblems(root: string, text = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')): string[] {
  const problems: string[] = [];
  let section = '';
  let entry = '';
  let hasHash = true;
  const close = () => {
    if (!hasHash) problems.push(`${entry} has no sha512 integrity in the lockfile, or more than one source`);
    hasHash = true;
  };
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\w/.test(line)) {
      close();
      section = line.replace(/:.*/, '');
    }
    if (!PROSE.test(line) && FOREIGN.test(line)) problems.push(`pnpm-lock.yaml:${index + 1} names a source of its own`);
    if (section !== 'packages') continue;
    const name = ENTRY.exec(line)?.[1];
    if (name !== undefined) {
      close();
      entry = name;
      hasHash = false;
    } else if (SOUND.test(line)) hasHash = true;
  }
  close();
  return problems;
}
