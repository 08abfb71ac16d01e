import { evidenceOfRise, STRONG_EVIDENCE, type Trials } from './e-value.ts';

// Whether a model fails its tests more often than is acceptable. The evidence stays valid however often it is checked,
// so frequent tests do not take out a sound model.

/** For each kind of test, the share that a model may fail. */
export const MAX_FAILURES = { known: 0.1, injection: 0.2, place: 0.25, label: 0.25 } as const;
export type TestKind = keyof typeof MAX_FAILURES;

const FIRST_PASSES = 5;
const MAX_DOUBLINGS = 3;

/**
 * Consecutive passes after which a model that was taken out returns. Five can be luck: without the doubling, a model that
 * fails every third sum would return within hours, each time with its counts at zero, and be in its panels nearly always.
 */
export const passesToReturn = (recentReturns: number): number =>
  FIRST_PASSES * 2 ** Math.min(recentReturns, MAX_DOUBLINGS);

/** Tests of one kind in blocks of time, oldest first. A hit is a failure. */
export type TestHistory = Readonly<Partial<Record<TestKind, readonly Trials[]>>>;

/** The kind of test that the model fails, with the strongest evidence first. Null if it fails none. */
export function failedTest(history: TestHistory): TestKind | null {
  const evidence = Object.entries(history).map(([kind, blocks]) => ({
    kind: kind as TestKind,
    evidence: evidenceOfRise(MAX_FAILURES[kind as TestKind], blocks),
  }));
  const worst = evidence.reduce<(typeof evidence)[number] | null>(
    (most, each) => (most === null || each.evidence > most.evidence ? each : most),
    null,
  );
  return worst !== null && worst.evidence >= STRONG_EVIDENCE ? worst.kind : null;
}
