import type { SequenceFault } from './play-sequence.ts';
import type { FuzzStep } from './step.ts';

/** Finds the shortest part of a sequence that still has a fault of the same kind. */
export async function shrinkSequence(
  steps: readonly FuzzStep[],
  fault: SequenceFault,
  play: (steps: readonly FuzzStep[]) => Promise<SequenceFault | null>,
  tries = 80,
): Promise<{ steps: readonly FuzzStep[]; fault: SequenceFault }> {
  let [smallest, shown] = [steps.slice(0, fault.at + 1), fault];
  let left = tries;
  for (let size = Math.ceil(smallest.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < smallest.length && left > 0; ) {
      const part = smallest.toSpliced(from, size);
      left -= 1;
      const found = part.length === 0 ? null : await play(part);
      if (found && sameFault(found, fault)) [smallest, shown] = [part, found];
      else from += size;
    }
    if (left <= 0) break;
  }
  return { steps: smallest, fault: shown };
}

/** Without ids and numbers, which differ between plays. */
export const faultKind = ({ operation, problem }: Pick<SequenceFault, 'operation' | 'problem'>): string =>
  `${operation}: ${problem
    .split(' (')[0]!
    .replace(/\d+|\b[\w-]*_\w+|[0-9a-f-]{30,}|zq\w+/g, '#')
    .slice(0, 90)}`;

const sameFault = (one: SequenceFault, other: SequenceFault): boolean => faultKind(one) === faultKind(other);
