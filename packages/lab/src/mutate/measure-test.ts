import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readJson } from '@eloquentpoll/services/json';
import { Type } from '@sinclair/typebox';
import { runTests } from './run-tests.ts';

/** A test file that was run without a mutant: how long it takes, and which code it executes. */
export interface MeasuredTest {
  readonly test: string;
  readonly tookMs: number;
  /** Whether the code at this offset of the file was executed. */
  reaches(file: string, offset: number): boolean;
}

const LIMIT_MS = 10 * 60_000;

/** As V8 writes it. Node replaces types by spaces, so offsets are those of the source. */
const Coverage = Type.Object({
  result: Type.Array(
    Type.Object({
      url: Type.String(),
      functions: Type.Array(
        Type.Object({
          ranges: Type.Array(
            Type.Object({ startOffset: Type.Integer(), endOffset: Type.Integer(), count: Type.Integer() }),
          ),
        }),
      ),
    }),
  ),
});

/** Throws if the test does not pass. `files`: those whose coverage is kept. */
export async function measureTest(
  test: string,
  files: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<MeasuredTest> {
  const folder = mkdtempSync(join(tmpdir(), 'eloquentpoll-coverage-'));
  try {
    const began = performance.now();
    // Coverage of functions that come compiled from the cache is not exact.
    const covered = { ...env, NODE_V8_COVERAGE: folder, NODE_DISABLE_COMPILE_CACHE: '1' };
    const sane = await runTests({ tests: [test], env: covered, limitMs: LIMIT_MS });
    if (sane !== 'passed') throw new Error(`${test} does not pass without a mutant`);
    const tookMs = performance.now() - began;
    const ranges = rangesIn(folder, new Set(files.map((file) => pathToFileURL(file).href)));
    return { test, tookMs, reaches: (file, offset) => isReached(ranges.get(pathToFileURL(file).href) ?? [], offset) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/** By file: one list of ranges for each process or thread that loaded it. */
function rangesIn(folder: string, wanted: ReadonlySet<string>): Map<string, Range[][]> {
  const found = new Map<string, Range[][]>();
  for (const name of readdirSync(folder)) {
    const { result } = readJson(Coverage, readFileSync(join(folder, name), 'utf8'));
    for (const { url, functions } of result)
      if (wanted.has(url)) found.set(url, [...(found.get(url) ?? []), functions.flatMap(({ ranges }) => ranges)]);
  }
  return found;
}

/** Whether the innermost range around the offset was executed in any of the processes. */
const isReached = (processes: readonly (readonly Range[])[], offset: number): boolean =>
  processes.some((ranges) => {
    let innermost: Range | null = null;
    for (const range of ranges)
      if (range.startOffset <= offset && offset < range.endOffset && sizeOf(range) <= sizeOf(innermost))
        innermost = range;
    return innermost !== null && innermost.count > 0;
  });

const sizeOf = (range: Range | null): number =>
  range ? range.endOffset - range.startOffset : Number.POSITIVE_INFINITY;
