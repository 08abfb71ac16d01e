/** A rule that every play of a simulation must satisfy. */
export interface Rule<Played> {
  readonly name: string;
  /** Describes what violates the rule; null if it holds. */
  readonly broken: (played: Played) => string | null;
}

export interface Violation {
  /** The seed or the crash points that repeat it. */
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
