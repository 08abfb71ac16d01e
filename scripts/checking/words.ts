import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { committedFiles } from './committed-files.ts';
import { ALLOWED, type AllowedWord, LIMIT_NAMES, WORD_RULES } from './word-list.ts';

// Finds the words on the list in sources, comments and documents.

const TEXT_FILE = /\.(ts|mjs|js|css|md|sql|sh|ya?ml)$|^\.ci\/|(^|\/)Dockerfile$/;
const OWN_FILES = /^scripts\/(checking\/word-list|test\/checking\.test)\.ts$/;
const RULES = WORD_RULES.map(({ words, instead }) => ({ pattern: new RegExp(`\\b(?:${words})\\b`, 'i'), instead }));

/** The places where a listed word is used, and exceptions that are no longer needed. */
export function findWords(root: string, allowed: readonly AllowedWord[] = ALLOWED): string[] {
  const used = new Set<AllowedWord>();
  const places = committedFiles(root)
    .filter((path) => TEXT_FILE.test(path) && !OWN_FILES.test(path) && existsSync(join(root, path)))
    .flatMap((path) =>
      placesIn(path, readFileSync(join(root, path), 'utf8'), (line) => {
        const entry = allowed.find((one) => one.path === path && line.includes(one.text));
        if (entry) used.add(entry);
        return entry !== undefined;
      }),
    );
  const stale = allowed.filter((entry) => !used.has(entry));
  return [
    ...places,
    ...stale.map(({ path, text }) => `word-list.ts allows "${text}" in ${path}, which is not there any more`),
  ];
}

function placesIn(path: string, text: string, isAllowed: (line: string) => boolean): string[] {
  return text.split('\n').flatMap((line, index) => {
    const found = wordsIn(line);
    if (found.length === 0 || isAllowed(line)) return [];
    return found.map((sentence) => `${path}:${index + 1} ${sentence}`);
  });
}

function wordsIn(line: string): string[] {
  const plain = splitNames(line);
  const limit = LIMIT_NAMES.exec(line);
  return [
    ...RULES.flatMap(({ pattern, instead }) => {
      const match = pattern.exec(plain);
      return match ? [`says "${match[0]}"; write: ${instead}`] : [];
    }),
    ...(limit ? [`names a limit "${limit[0]}"; write: MAX_, MIN_`] : []),
  ];
}

/** Splits `askAnyone` and `ANYONE_MS` into separate words. */
const splitNames = (line: string) => line.replace(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll('_', ' ');
