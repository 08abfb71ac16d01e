import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { committedFiles } from './committed-files.ts';

// Committed files must work on every machine: no home folders, package registries or registry tokens.

const RULES: [RegExp, string][] = [
  [/(?<![\w.])\/(home|Users)\/(?!node\b)[a-z][\w-]*\//, 'names a folder in the home of a person'],
  [/^\s*(@[\w-]+:)?registry\s*=/m, 'sets a package registry'],
  [/_authToken|_password\s*=/, 'holds a registry token'],
  [/resolution: \{.*(tarball|registry): /, 'ties a package to one registry'],
];
const MAX_BYTES = 2 * 2 ** 20;
const OWN_FILE = 'scripts/checking/portable-files.ts';

export function portabilityProblems(root: string): string[] {
  const places = [root, homedir()].filter((place) => place.split('/').length > 2);
  const problems: string[] = [];
  for (const file of committedFiles(root)) {
    const path = join(root, file);
    if (file === OWN_FILE || !existsSync(path) || statSync(path).size > MAX_BYTES) continue;
    const text = readFileSync(path, 'utf8');
    if (text.includes('\0')) continue;
    for (const place of places) if (text.includes(`${place}/`)) problems.push(`${file} names a folder of this machine`);
    for (const [pattern, says] of RULES) {
      const match = pattern.exec(text);
      if (match) problems.push(`${file}:${text.slice(0, match.index).split('\n').length} ${says}`);
    }
  }
  return problems;
}
