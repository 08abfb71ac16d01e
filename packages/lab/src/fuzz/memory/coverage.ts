import { tableLines } from '../../terminal/table.ts';
import type { FuzzedOperation } from '../operations.ts';

// The answers that were reached, by operation, status and code, and the declared ones that never came.

/** Statuses of unavailable stores, missing money and internal errors, which need not be reached. */
const NEVER_DUE = new Set(['500', '503', '502', '429', '408', '413', '415']);

export interface Coverage {
  note(operation: string, status: number, code: string): void;
  /** Number of answers by operation, status and code. */
  readonly counts: ReadonlyMap<string, number>;
  lines(operations: readonly FuzzedOperation[]): string[];
}

export function coverage(): Coverage {
  const counts = new Map<string, number>();
  return {
    counts,
    note(operation, status, code) {
      const triple = `${operation} ${status} ${code}`.trim();
      counts.set(triple, (counts.get(triple) ?? 0) + 1);
    },
    lines(operations) {
      const of = (id: string) => [...counts].filter(([triple]) => triple.startsWith(`${id} `));
      const rows = operations.map(({ id, name, answers }) => {
        const reached = of(id);
        const statuses = new Set(reached.map(([triple]) => triple.split(' ')[1]!));
        const missing = Object.keys(answers).filter((status) => !statuses.has(status) && !NEVER_DUE.has(status));
        const shown = reached
          .toSorted(([a], [b]) => a.localeCompare(b))
          .map(([triple, count]) => `${triple.slice(id.length + 1)}: ${count}`);
        return [name, String(reached.reduce((sum, [, count]) => sum + count, 0)), missing.join(' '), shown.join(', ')];
      });
      return tableLines(['operation', 'answers', 'never', 'status and code: answers'], rows, [0, 2, 3]);
    },
  };
}
