import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { committedFiles } from './committed-files.ts';
import { ALLOWED, type AllowedWord, CLEAN, LIMIT_NAMES, WORD_RULES } from './word-list.ts';

// Finds the words of the list in source, comments and documents.

const TEXT_FILE = /\.(ts|mjs|js|css|md|sql|sh|ya?ml)$|^\.ci\/|(^|\/)Dockerfile$/;
const OWN_FILES = /^scripts\/(checking\/word-list|test\/checking\.test)\.ts$/;
const RULES = WORD_RULES.map(({ words, instead }) => ({ pattern: new RegExp(`\\b(?:${words})\\b`, 'i'), instead }));

interface Place {
  path: string;
  sentence: string;
}

export interface WordReport {
  /** In clean folders: these fail the check. */
  problems: string[];
  /** Everywhere else: these are counted. */
  others: string[];
}

interface Options {
  clean?: readonly string[];
  allowed?: readonly AllowedWord[];
}

export function findWords(root: string, { clean = CLEAN, allowed = ALLOWED }: Options = {}): WordReport {
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
  const isClean = ({ path }: Place) => clean.some((folder) => path === folder || path.startsWith(`${folder}/`));
  const stale = allowed.filter((entry) => !used.has(entry));
  return {
    problems: [
      ...places.filter(isClean).map(({ sentence }) => sentence),
      ...stale.map(({ path, text }) => `word-list.ts allows "${text}" in ${path}, which is not there any more`),
    ],
    others: places.filter((place) => !isClean(place)).map(({ sentence }) => sentence),
  };
}

function placesIn(path: string, text: string, isAllowed: (line: string) => boolean): Place[] {
  return text.split('\n').flatMap((line, index) => {
    const found = wordsIn(line);
    if (found.length === 0 || isAllowed(line)) return [];
    return found.map((sentence) => ({ path, sentence: `${path}:${index + 1} ${sentence}` }));
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

/** `askAnyone` and `ANYONE_MS` become words that stand alone. */
const splitNames = (line: string) => line.replace(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll('_', ' ');

/** Places per folder, most first: what is left to do. */
export function countByFolder(sentences: readonly string[]): string {
  const folderOf = (sentence: string) => sentence.split(':')[0]?.split('/').slice(0, -1).slice(0, 4).join('/') || '.';
  const groups = [...Map.groupBy(sentences, folderOf)].sort(([, a], [, b]) => b.length - a.length);
  return groups.map(([folder, { length }]) => `${`${length}`.padStart(5)}  ${folder}`).join('\n');
}
