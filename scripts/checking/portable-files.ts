import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, relative } from 'node:path';

// What is committed means the same on every machine: no folders of somebody's disk, no package registry of somebody's
// network, no tokens.

const RULES: [RegExp, string][] = [
  [/(?<![\w.])\/(home|Users)\/(?!node\b)[a-z][\w-]*\//, 'names a folder in the home of a person'],
  [/^\s*(@[\w-]+:)?registry\s*=/m, 'sets a package registry'],
  [/_authToken|_password\s*=/, 'holds a registry token'],
  [/resolution: \{.*(tarball|registry): /, 'ties a package to one registry'],
];
const MOST_BYTES = 2 * 2 ** 20;
const OWN_FILE = 'scripts/checking/portable-files.ts';

export function portabilityProblems(root: string): string[] {
  const places = [root, homedir()].filter((place) => place.split('/').length > 2);
  const problems: string[] = [];
  for (const file of committedFiles(root)) {
    const path = join(root, file);
    if (file === OWN_FILE || !existsSync(path) || statSync(path).size > MOST_BYTES) continue;
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

function committedFiles(root: string): string[] {
  const git = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  if (git.status === 0) return git.stdout.split('\0').filter(Boolean);
  // Without git or its folder: everything that it would not ignore.
  return walk(root).map((path) => relative(root, path));
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (/^(node_modules|\.git|\.tools|\.data|\.tap|dist|coverage)$/.test(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return walk(path);
    return entry.isFile() ? [path] : [];
  });
}
