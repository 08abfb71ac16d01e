import type { Test } from 'tap';

// The type of a row is asserted where the query is written. Here each member's kind, which the compiler takes from that
// type, is compared with what the database sends.

type Kind<T> = [T] extends [string]
  ? 'string'
  : [T] extends [number]
    ? 'number'
    : [T] extends [bigint]
      ? 'bigint'
      : [T] extends [boolean]
        ? 'boolean'
        : [T] extends [Date]
          ? 'date'
          : [T] extends [Buffer]
            ? 'bytes'
            : 'object';

/** The kind of each member; with a question mark where it may be null. */
export type Kinds<T> = {
  [K in keyof T]-?: null extends T[K] ? `${Kind<NonNullable<T[K]>>}?` : Kind<T[K]>;
};

function kindOf(value: unknown): string {
  if (value instanceof Date) return 'date';
  if (Buffer.isBuffer(value)) return 'bytes';
  return typeof value;
}

/** Each row has these members and no others; a member that may be null was seen once when it was not. */
export function sameKinds<T extends object>(t: Test, name: string, rows: readonly T[], kinds: Kinds<T>): void {
  const expected = Object.entries<string>(kinds).toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const row of rows) t.same(Object.keys(row).toSorted(), Object.keys(kinds).toSorted(), `${name}: members`);
  const seen = expected.map(([member, kind]) => {
    const values = rows.map((row): unknown => row[member as keyof T]);
    const found = new Set(values.filter((value) => value !== null).map(kindOf));
    const orNull = kind.endsWith('?') ? '?' : values.includes(null) ? ' or null' : '';
    return [member, [...found].join(' or ') + orNull];
  });
  t.same(seen, expected, name);
}
