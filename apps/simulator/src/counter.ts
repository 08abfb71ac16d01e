/** Counts by name. When there are too many names, the one that was added first is dropped. */
export class NamedCounts {
  readonly #counts = new Map<string, number>();
  readonly #limit: number;

  constructor(limit = 20_000) {
    this.#limit = limit;
  }

  /** How often this name was counted before. */
  next(name: string): number {
    const before = this.#counts.get(name) ?? 0;
    if (before === 0 && this.#counts.size >= this.#limit)
      for (const oldest of this.#counts.keys()) {
        this.#counts.delete(oldest);
        break;
      }
    this.#counts.set(name, before + 1);
    return before;
  }
}
