import { isJsonObject, type JsonObject } from '@eloquentpoll/contracts';
import { closest } from './closest.ts';
import type { RosterFileProblem } from './panel-problems.ts';

/**
 * One value of a roster file and its path. A failed read records a problem and returns a harmless placeholder, so that
 * the other problems are found too.
 */
export class Place {
  readonly value: unknown;
  readonly path: string;
  readonly #problems: RosterFileProblem[];

  constructor(value: unknown, path: string, problems: RosterFileProblem[]) {
    this.value = value;
    this.path = path;
    this.#problems = problems;
  }

  get isMissing(): boolean {
    return this.value === undefined;
  }

  report(problem: string, wayOut: string): void {
    this.#problems.push({ path: this.path === '' ? '(file)' : this.path, problem, wayOut });
  }

  /** The same value with a more helpful path. */
  named(path: string): Place {
    return new Place(this.value, path, this.#problems);
  }

  at(name: string): Place {
    const value = isJsonObject(this.value) && Object.hasOwn(this.value, name) ? this.value[name] : undefined;
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      return new Place(value, `${this.path}[${JSON.stringify(name)}]`, this.#problems);
    return new Place(value, this.path === '' ? name : `${this.path}.${name}`, this.#problems);
  }

  /** Reports every field that is not in `known`. False if this is no object. */
  fields(known: readonly string[]): boolean {
    if (!isJsonObject(this.value)) {
      this.report(this.wrong(), `Write an object with ${known.join(', ')}`);
      return false;
    }
    for (const name of Object.keys(this.value)) {
      if (known.includes(name)) continue;
      const near = closest(name, known);
      const wayOut = near
        ? `Did you mean "${near}"? Otherwise remove it`
        : `Remove it; known here: ${known.join(', ')}`;
      this.at(name).report('is not a field of this place', wayOut);
    }
    return true;
  }

  /** The fields of an object whose names are chosen by the file, such as provider names. */
  entries(what: string): [string, Place][] {
    if (isJsonObject(this.value) && Object.keys(this.value).length > 0)
      return Object.keys(this.value).map((name) => [name, this.at(name)]);
    this.report(isJsonObject(this.value) ? 'is empty' : this.wrong(), `Write an object with at least one ${what}`);
    return [];
  }

  items(what: string): Place[] {
    if (Array.isArray(this.value) && this.value.length > 0)
      return this.value.map((item, index) => new Place(item, `${this.path}[${index}]`, this.#problems));
    this.report(Array.isArray(this.value) ? 'is empty' : this.wrong(), `Write a list with at least one ${what}`);
    return [];
  }

  object(wayOut: string): JsonObject {
    if (this.isMissing) return {};
    if (isJsonObject(this.value)) return this.value;
    this.report(this.wrong(), wayOut);
    return {};
  }

  text(pattern: RegExp, wayOut: string): string {
    if (typeof this.value === 'string' && pattern.test(this.value)) return this.value;
    this.report(this.wrong(), wayOut);
    return '';
  }

  /** Like `text`, but never repeats a wrong value, which may be a misplaced secret. */
  privateText(pattern: RegExp, wayOut: string): string {
    if (typeof this.value === 'string' && pattern.test(this.value)) return this.value;
    this.report(this.isMissing ? 'is missing' : 'has not the right form', wayOut);
    return '';
  }

  oneOf<const T extends string>(allowed: readonly T[], fallback?: T): T {
    const found = allowed.find((name) => name === this.value);
    if (found !== undefined) return found;
    if (!this.isMissing || fallback === undefined)
      this.report(this.wrong(), `Write one of ${allowed.map((name) => `"${name}"`).join(', ')}`);
    return fallback ?? allowed[0]!;
  }

  whole(min: number, max: number, fallback?: number): number {
    const { value } = this;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    if (!this.isMissing || fallback === undefined)
      this.report(this.wrong(), `Write a whole number from ${min} to ${max}`);
    return fallback ?? min;
  }

  flag(fallback?: boolean): boolean {
    if (typeof this.value === 'boolean') return this.value;
    if (!this.isMissing || fallback === undefined) this.report(this.wrong(), 'Write true or false');
    return fallback ?? false;
  }

  wrong(): string {
    if (this.isMissing) return 'is missing';
    const text = JSON.stringify(this.value);
    return `is ${text.length > 60 ? `${text.slice(0, 57)}...` : text}`;
  }
}
