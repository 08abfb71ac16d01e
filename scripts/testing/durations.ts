import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dataFolder, root } from '@eloquentpoll/launch/folders';
import { readJson } from '@eloquentpoll/services/json';
import { type Static, Type } from '@sinclair/typebox';
import { slowSeconds } from './slow-tag.ts';

// The longest files start first, so that no slow file runs alone at the end. Measured times are kept in .data; before
// the first run, the `slow` tags are used.

const FILE = join(dataFolder, 'test-durations.json');
const UNKNOWN_MS = 1_000;

const Durations = Type.Record(Type.String(), Type.Number());
export type Durations = Static<typeof Durations>;

export function longestFirst(files: readonly string[], measured: Durations = readDurations()): string[] {
  const ms = (file: string) => measured[file] ?? ((slowSeconds(join(root, file)) ?? 0) * 1_000 || UNKNOWN_MS);
  return files
    .map((file) => ({ file, ms: ms(file) }))
    .sort((a, b) => b.ms - a.ms)
    .map(({ file }) => file);
}

export function recordDurations(measured: Durations): void {
  const aside = `${FILE}.${process.pid}`;
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(aside, JSON.stringify({ ...readDurations(), ...measured }));
  renameSync(aside, FILE);
}

function readDurations(): Durations {
  try {
    return readJson(Durations, readFileSync(FILE, 'utf8'));
  } catch {
    return {};
  }
}
