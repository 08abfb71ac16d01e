import { DurationHistogram } from './duration-histogram.ts';

// The day as its users saw it: how long each kind of request took, its answers, and what was wrong.

export interface WayFigures {
  readonly times: DurationHistogram;
  readonly statuses: Map<number, number>;
  /** Answers that were checked for correctness. */
  judged: number;
}

const MAX_EXAMPLES = 50;

export class Diary {
  readonly ways = new Map<string, WayFigures>();
  readonly wrong: string[] = [];
  wrongCount = 0;
  /** Answers that name a wait of seconds at most, and answers that were cut off and may be asked for again. */
  refusedCount = 0;
  readonly refused: string[] = [];
  votes = 0;
  /** Votes that failed although their providers did not. */
  unheardCount = 0;
  readonly unheard: string[] = [];
  /** Times since the last sample. */
  recent = new Map<string, number[]>();
  readonly #say: (line: string) => void;

  /** `say` hears at once what is wrong: a day that is stopped has no verdict. */
  constructor(say: (line: string) => void = () => {}) {
    this.#say = say;
  }

  way(name: string): WayFigures {
    const known = this.ways.get(name) ?? { times: new DurationHistogram(), statuses: new Map(), judged: 0 };
    this.ways.set(name, known);
    return known;
  }

  answered(name: string, status: number, ms: number): void {
    const { times, statuses } = this.way(name);
    times.add(ms);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const recent = this.recent.get(name) ?? [];
    this.recent.set(name, recent);
    recent.push(ms);
  }

  judge(name: string, problems: readonly string[]): void {
    this.way(name).judged += 1;
    for (const problem of problems) this.note(`${name}: ${problem}`);
  }

  note(problem: string): void {
    this.wrongCount += 1;
    if (this.wrong.length === MAX_EXAMPLES) return;
    this.wrong.push(problem);
    this.#say(`${timeOfDay()} wrong: ${problem}`);
  }

  refuse(what: string): void {
    this.refusedCount += 1;
    if (this.refused.length < MAX_EXAMPLES) this.refused.push(`${timeOfDay()} ${what}`);
  }

  heard(votes: number, unheard: readonly string[]): void {
    this.votes += votes;
    this.unheardCount += unheard.length;
    this.unheard.push(...unheard.slice(0, MAX_EXAMPLES - this.unheard.length));
  }

  /** Returns the times of each way since the last call. */
  takeRecent(): ReadonlyMap<string, readonly number[]> {
    const taken = this.recent;
    this.recent = new Map();
    return taken;
  }
}

const timeOfDay = (): string => new Date().toISOString().slice(11, 19);
