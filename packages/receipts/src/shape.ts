// Checks JSON from outside, member by member. An object must have the listed members and no others.

export type Check<T> = (value: unknown) => value is T;
type Checked<C> = C extends Check<infer T> ? T : never;

export const isText: Check<string> = (value) => typeof value === 'string';
export const isFlag: Check<boolean> = (value) => typeof value === 'boolean';
export const isCount: Check<number> = (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
export const isProbability: Check<number> = (value): value is number =>
  typeof value === 'number' && value >= 0 && value <= 1;

export const isOneOf =
  <const T extends readonly string[]>(values: T): Check<T[number]> =>
  (value): value is T[number] =>
    values.some((known) => known === value);

export const isOrNull =
  <T>(check: Check<T>): Check<T | null> =>
  (value): value is T | null =>
    value === null || check(value);

export const isListOf =
  <T>(check: Check<T>): Check<T[]> =>
  (value): value is T[] =>
    Array.isArray(value) && value.every(check);

type Members = Readonly<Record<string, Check<unknown>>>;
type Shape<R extends Members> = { [K in keyof R]: Checked<R[K]> };

export const hasMembers =
  <R extends Members, O extends Members = Record<never, never>>(
    required: R,
    optional?: O,
  ): Check<Shape<R> & Partial<Shape<O>>> =>
  (value): value is Shape<R> & Partial<Shape<O>> => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const given = new Map(Object.entries(value));
    const isGood = (checks: Members, mayLack: boolean) =>
      Object.entries(checks).every(([name, check]) => (given.has(name) ? check(given.get(name)) : mayLack));
    const known = { ...required, ...optional };
    return (
      isGood(required, false) &&
      isGood(optional ?? {}, true) &&
      [...given.keys()].every((name) => Object.hasOwn(known, name))
    );
  };
