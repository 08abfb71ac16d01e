import { isObject, type Json } from './json.ts';

// What is wrong with a roster file, each with its place and the way out. All problems are collected before the file is
// refused, so that one start shows everything there is to mend.

export interface Problem {
  /** JSON path, such as `models[3].price.input`. */
  path: string;
  problem: string;
  wayOut: string;
}

export class RosterFileError extends Error {
  readonly file: string;
  readonly problems: readonly Problem[];

  constructor(file: string, problems: readonly Problem[]) {
    const lines = problems.map(({ path, problem, wayOut }) => `  ${path}: ${problem}. ${wayOut}.`);
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    super(`Roster file ${file} has ${count}:\n${lines.join('\n')}`);
    this.name = 'RosterFileError';
    this.file = file;
    this.problems = problems;
  }
}

/** Reads values out of parsed JSON; every read that fails leaves a problem and gives a harmless stand-in. */
export class Reader {
  readonly problems: Problem[] = [];

  report(path: string, problem: string, wayOut: string): void {
    this.problems.push({ path: path === '' ? '(file)' : path, problem, wayOut });
  }

  /** An object with none but these fields. */
  object(value: unknown, path: string, fields: readonly string[]): Json {
    if (!isObject(value)) {
      this.report(path, `is ${kindOf(value)}, not an object`, `Write an object with ${fields.join(', ')}`);
      return {};
    }
    for (const name of Object.keys(value)) {
      if (fields.includes(name)) continue;
      const near = closest(name, fields);
      this.report(
        at(path, name),
        'is not a field of this place',
        near ? `Did you mean "${near}"? Otherwise remove it` : `Remove it; known here: ${fields.join(', ')}`,
      );
    }
    return value;
  }

  /** An object whose field names are the file's own, such as provider names. */
  named(value: unknown, path: string, what: string): [string, unknown, string][] {
    if (!isObject(value) || Object.keys(value).length === 0) {
      this.report(
        path,
        value === undefined ? 'is missing' : 'has no entry',
        `Write an object with at least one ${what}`,
      );
      return [];
    }
    return Object.entries(value).map(([name, entry]) => [name, entry, at(path, name)]);
  }

  list(value: unknown, path: string, what: string): unknown[] {
    if (Array.isArray(value) && value.length > 0) return value;
    this.report(
      path,
      value === undefined ? 'is missing' : Array.isArray(value) ? 'is empty' : `is ${kindOf(value)}, not a list`,
      `Write a list with at least one ${what}`,
    );
    return [];
  }

  text(value: unknown, path: string, wayOut: string, pattern = /^\S.*$/): string {
    if (typeof value === 'string' && pattern.test(value)) return value;
    this.report(path, value === undefined ? 'is missing' : `is ${shown(value)}`, wayOut);
    return '';
  }

  /** Like `text`, where a wrong value may be a secret in the wrong place: it is not repeated. */
  privateText(value: unknown, path: string, wayOut: string, pattern: RegExp): string {
    if (typeof value === 'string' && pattern.test(value)) return value;
    this.report(path, value === undefined ? 'is missing' : 'has not the right form', wayOut);
    return '';
  }

  oneOf<const T extends string>(value: unknown, path: string, allowed: readonly T[], fallback?: T): T {
    const found = allowed.find((name) => name === value);
    if (found !== undefined) return found;
    if (value !== undefined || fallback === undefined)
      this.report(
        path,
        value === undefined ? 'is missing' : `is ${shown(value)}`,
        `Write one of ${allowed.map((name) => `"${name}"`).join(', ')}`,
      );
    return fallback ?? allowed[0]!;
  }

  whole(value: unknown, path: string, min: number, max: number, fallback?: number): number {
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    if (value !== undefined || fallback === undefined)
      this.report(
        path,
        value === undefined ? 'is missing' : `is ${shown(value)}`,
        `Write a whole number from ${min} to ${max}`,
      );
    return fallback ?? min;
  }

  flag(value: unknown, path: string, fallback?: boolean): boolean {
    if (typeof value === 'boolean') return value;
    if (value !== undefined || fallback === undefined)
      this.report(path, value === undefined ? 'is missing' : `is ${shown(value)}`, 'Write true or false');
    return fallback ?? false;
  }
}

export function at(path: string, name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

/** The known name a typing slip away from the given one. */
export function closest(name: string, known: Iterable<string>): string | null {
  let best: string | null = null;
  let bestDistance = 3;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
