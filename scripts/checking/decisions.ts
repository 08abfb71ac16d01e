import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

// The index of docs/decisions must list each decision with its title.

export function decisionProblems(root: string): string[] {
  const folder = join(root, 'docs/decisions');
  const index = readFileSync(join(folder, 'README.md'), 'utf8').split('\n');
  const lines = globSync('[0-9]*.md', { cwd: folder })
    .sort()
    .map((file) => `- [${titleOf(join(folder, file))}](${basename(file)})`);
  return [
    ...lines.filter((line) => !index.includes(line)).map((line) => `docs/decisions/README.md lacks the line: ${line}`),
    ...index
      .filter((line) => line.startsWith('- [') && !lines.includes(line))
      .map((line) => `docs/decisions/README.md has a line for another title or no file: ${line}`),
  ];
}

const titleOf = (file: string): string => /^# (.+)/.exec(readFileSync(file, 'utf8'))?.[1] ?? '';
