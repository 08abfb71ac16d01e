/** What must hold for everything that a simulation plays. */
export interface Rule<Played> {
  readonly name: string;
  /** What contradicts it; null where it holds. */
  readonly broken: (played: Played) => string | null;
}

export interface Violation {
  /** The seed, or the points, that repeat it. */
  readonly where: string;
  readonly rule: string;
  readonly found: string;
}

export function violations<Played>(where: string, rules: readonly Rule<Played>[], played: Played): Violation[] {
  return rules.flatMap(({ name, broken }) => {
    const found = broken(played);
    return found === null ? [] : [{ where, rule: name, found }];
  });
}
