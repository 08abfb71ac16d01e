import { type FinalResults, Parser } from 'tap-parser';

// Reads the output of one test file while it runs: every failure in full, the count at the end. A file without tests, a
// skipped test and a test marked as todo count as failed, so that nothing passes without running.

export interface Totals {
  passed: number;
  failed: number;
}

/** How the process of a test file ended. */
export interface FileEnding {
  /** Null if all is well; otherwise a phrase such as "ended with code 7". */
  fault: string | null;
  ms: number;
}

interface Assert {
  ok: boolean;
  name: string;
  fullname: string;
  skip: string | boolean;
  todo: string | boolean;
  diag: Record<string, unknown> | null;
  /** In milliseconds; null where it was not measured. */
  time: number | null;
}

/** If only one file runs, tests that take longer than this are listed with their time. */
const NOTABLE_MS = 500;
const SHORT_COMMENT = 110;
const NOISE = /^# (Subtest|time=|timeout=|\{ total)/;

export class FileReport {
  readonly totals: Totals = { passed: 0, failed: 0 };
  /** All lines about failures, to be repeated at the end of a long run. */
  readonly failures: string[] = [];
  readonly #name: string;
  readonly #print: (line: string) => void;
  readonly #alone: boolean;
  readonly #parser: Parser;
  #results: FinalResults | undefined;

  /** If several files run (`alone` is false), long lists in a test's output are cut. */
  constructor(name: string, print: (line: string) => void, alone = true) {
    this.#name = name;
    this.#print = print;
    this.#alone = alone;
    this.#parser = new Parser({ name }, (results) => {
      this.#results = results;
    });
    this.#parser.on('assert', (test: Assert) => this.#count(test));
    this.#parser.on('bailout', (reason: string) => this.#fail(`    ✗ ${name} gave up: ${reason}`));
    this.#watch(this.#parser);
  }

  line(line: string): void {
    this.#parser.write(`${line}\n`);
  }

  /** Prints the summary line of the file and returns its totals. */
  end({ fault, ms }: FileEnding): Totals {
    this.#parser.end();
    this.#judge(fault);
    const { passed, failed } = this.totals;
    const counts = `${passed} passed${failed > 0 ? `, ${failed} failed` : ''}`;
    const seconds = (ms / 1000).toFixed(1).padStart(5);
    this.#print(`  ${failed === 0 ? '✓' : '✗'} ${this.#name.padEnd(58)} ${counts.padEnd(12)} ${seconds} s`);
    return this.totals;
  }

  #watch(parser: Parser): void {
    const children = new Set<string>();
    parser.on('child', (child: Parser) => {
      children.add(child.name);
      this.#watch(child);
    });
    parser.on('extra', (text: string) => this.#print(`    ${text.trimEnd()}`));
    parser.on('comment', (text: string) => {
      if (!NOISE.test(text))
        this.#print(`    ${this.#alone ? text.trimEnd() : text.trimEnd().slice(0, SHORT_COMMENT)}`);
    });
    parser.on('assert', (assert: Assert) => {
      if (!assert.ok && !children.has(assert.name)) this.#explain(assert);
    });
  }

  #count(test: Assert): void {
    if (this.#alone && (test.time ?? 0) >= NOTABLE_MS)
      this.#print(`    … ${((test.time ?? 0) / 1_000).toFixed(1)} s  ${test.name}`);
    const ran = !test.skip && !test.todo;
    if (!ran) this.#fail(`    ✗ ${test.fullname} was not run (${test.skip ? 'skip' : 'todo'})`);
    if (test.ok && ran) this.totals.passed++;
    else this.totals.failed++;
  }

  // A file can also fail as a whole: by its exit code, a missing plan, or because it has no tests.
  #judge(fault: string | null): void {
    const { passed, failed } = this.totals;
    if (failed > 0) return;
    const broken = this.#results?.failures.find(({ tapError }) => tapError)?.tapError;
    const empty = passed === 0 ? 'has no tests' : null;
    const reason = fault ?? empty ?? (broken ? `printed TAP with a fault: ${broken}` : null);
    if (reason === null && this.#results?.ok) return;
    this.totals.failed++;
    this.#fail(`    ✗ ${this.#name} ${reason ?? 'failed and did not print why'}`);
  }

  #explain({ fullname, diag }: Assert): void {
    this.#fail(`    ✗ ${fullname}`);
    const { at: _at, compare: _compare, args: _args, stdio: _stdio, cwd: _cwd, ...rest } = diag ?? {};
    for (const [name, value] of Object.entries(rest)) {
      const text = typeof value === 'string' ? value : JSON.stringify(value, writable);
      const lines = text.split('\n').filter((line) => line.trim() !== '');
      if (lines.length === 1) this.#fail(`      ${name}: ${lines[0]?.slice(0, 300)}`);
      else {
        this.#fail(`      ${name}:`);
        for (const line of lines.slice(0, 40)) this.#fail(`        ${line.slice(0, 300)}`);
      }
    }
  }

  #fail(line: string): void {
    this.failures.push(line);
    this.#print(line);
  }
}

const writable = (_name: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value);
