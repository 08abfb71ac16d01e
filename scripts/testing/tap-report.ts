import { Parser } from 'tap-parser';

// Reads what tap says while it says it: one line per finished file, every failure in full, and the count at the end. A
// file without tests, a skipped test and one marked as to do count as failed: nothing passes by not running.

export interface Totals {
  passed: number;
  failed: number;
}

interface Assert {
  ok: boolean;
  name: string;
  fullname: string;
  skip: string | boolean;
  todo: string | boolean;
  time: number | null;
  diag: Record<string, unknown> | null;
}

interface FileRun {
  passed: number;
  failed: number;
}

const NOISE = /^# (Subtest|time=|\{ total|No coverage|Subtest:)/;

export class TapReport {
  readonly totals: Totals = { passed: 0, failed: 0 };
  #parser = new Parser();
  #print: (line: string) => void;
  #commentWidth: number;

  constructor(print: (line: string) => void, commentWidth = Number.POSITIVE_INFINITY) {
    this.#print = print;
    this.#commentWidth = commentWidth;
    const files = new Map<string, FileRun>();
    this.#parser.on('child', (child: Parser) => {
      const run: FileRun = { passed: 0, failed: 0 };
      files.set(child.name, run);
      child.on('assert', (assert: Assert) => this.#test(assert, run));
      this.#watch(child);
    });
    this.#parser.on('assert', (file: Assert) => this.#file(file, files.get(file.name) ?? { passed: 0, failed: 0 }));
    this.#parser.on('extra', (text: string) => print(text.trimEnd()));
    this.#parser.on('bailout', (reason: string) => print(`  tap gave up: ${reason}`));
  }

  line(line: string): void {
    this.#parser.write(`${line}\n`);
  }

  end(): Totals {
    this.#parser.end();
    return this.totals;
  }

  #watch(parser: Parser): void {
    parser.on('child', (child: Parser) => this.#watch(child));
    parser.on('extra', (text: string) => this.#print(`    ${text.trimEnd()}`));
    parser.on('comment', (text: string) => {
      if (!NOISE.test(text)) this.#print(`    ${text.trimEnd().slice(0, this.#commentWidth)}`);
    });
    const children = new Set<string>();
    parser.on('child', (child: Parser) => children.add(child.name));
    parser.on('assert', (assert: Assert) => {
      if (!assert.ok && !children.has(assert.name)) this.#explain(assert);
    });
  }

  #test(test: Assert, run: FileRun): void {
    const ran = !test.skip && !test.todo;
    if (!ran) this.#print(`    ✗ ${test.fullname} was not run (${test.skip ? 'skip' : 'todo'})`);
    if (test.ok && ran) run.passed++;
    else run.failed++;
  }

  #file(file: Assert, run: FileRun): void {
    if (!file.ok && run.failed === 0) {
      run.failed++;
      this.#explain(file);
    } else if (run.passed + run.failed === 0) {
      run.failed++;
      this.#print(`    ✗ ${file.name} has no tests`);
    }
    this.totals.passed += run.passed;
    this.totals.failed += run.failed;
    const counts = `${run.passed} passed${run.failed > 0 ? `, ${run.failed} failed` : ''}`;
    const seconds = ((file.time ?? 0) / 1000).toFixed(1);
    this.#print(
      `  ${run.failed === 0 ? '✓' : '✗'} ${file.name.padEnd(58)} ${counts.padEnd(12)} ${seconds.padStart(5)} s`,
    );
  }

  #explain({ fullname, diag }: Assert): void {
    this.#print(`    ✗ ${fullname}`);
    const { at: _at, compare: _compare, args: _args, stdio: _stdio, cwd: _cwd, ...rest } = diag ?? {};
    for (const [name, value] of Object.entries(rest)) {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      const lines = text.split('\n').filter((line) => line.trim() !== '');
      if (lines.length === 1) this.#print(`      ${name}: ${lines[0]?.slice(0, 300)}`);
      else {
        this.#print(`      ${name}:`);
        for (const line of lines.slice(0, 40)) this.#print(`        ${line.slice(0, 300)}`);
      }
    }
  }
}
