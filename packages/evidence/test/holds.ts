import fc from '@eloquentpoll/testkit/fast-check';
import type { Test } from 'tap';

/** Asserts a property; a failure shows the seed, the path and the smallest counterexample. */
export function holds<T>(t: Test, name: string, property: fc.IProperty<T>, runs = 200): void {
  const outcome = fc.check(property, { numRuns: runs });
  t.ok(!outcome.failed, outcome.failed ? `${name}\n${fc.defaultReportMessage(outcome)}` : name);
}
