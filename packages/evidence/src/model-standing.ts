import { evidenceOfRise, STRONG_EVIDENCE, type Trials } from './e-value.ts';

// Whether a model fails the questions that it is tested with more often than is acceptable. The evidence holds at every
// look, so a sound model is not taken out by being tested often.

/** Of each kind of test, the share that a model may fail. */
export const MAX_FAILURES = { known: 0.1, injection: 0.2, place: 0.25, label: 0.25 } as const;
export type TestKind = keyof typeof MAX_FAILURES;

/** Passed in a row until a model that was taken out comes back. */
export const PASSES_TO_RETURN = 5;

/** Tests of one kind, in blocks of time, the oldest first; a hit is a failure. */
export type TestHistory = Readonly<Partial<Record<TestKind, readonly Trials[]>>>;

/** The kind of test that a model fails, the clearest first; null where it fails none. */
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
