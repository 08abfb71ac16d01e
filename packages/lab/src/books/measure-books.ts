import {
  capture,
  checkLedgerInTurn,
  closeBooks,
  hold,
  type LedgerViolation,
  type Storage,
} from '@eloquentpoll/storage';
import type { Stores } from '../fixture/stores.ts';
import { wholeLedgerViolations } from '../fixture/whole-ledger.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import { percentile } from '../terminal/table.ts';

// How long a round of the check takes on a large ledger, and how long a hold and its capture take alone and meanwhile.

const round1 = (value: number): number => Math.round(value * 100) / 100;
export const quantiles = (values: readonly number[]) => ({
  p50: round1(percentile(values, 0.5) ?? 0),
  p99: round1(percentile(values, 0.99) ?? 0),
  max: round1(percentile(values, 1) ?? 0),
});

async function timed<T>(work: () => Promise<T>): Promise<[number, T]> {
  const began = performance.now();
  const made = await work();
  return [performance.now() - began, made];
}

/** Closes everything, one step after the other; returns how long pages and seals took. */
export async function closeAll({ storage }: Stores, progress: ProgressLine, signal?: AbortSignal) {
  const pages: number[] = [];
  const seals: number[] = [];
  for (;;) {
    signal?.throwIfAborted();
    const [ms, closed] = await timed(() => closeBooks(storage, { forMs: 0 }));
    if (closed.pages > 0) pages.push(ms);
    else if (closed.seals.length > 0) seals.push(ms);
    else return { pages: pages.length, page_ms: quantiles(pages), days: seals.length, seal_ms: quantiles(seals) };
    progress.show(`books: ${pages.length} pages and ${seals.length} days closed`);
  }
}

/** Holds and captures on one account without pause until `until` settles. All free polls share one such account. */
export async function holdAndCapture(storage: Storage, accountId: string, until: Promise<unknown>): Promise<number[]> {
  const tookMs: number[] = [];
  let going = true;
  void until.finally(() => {
    going = false;
  });
  for (let n = 0; going; n++) {
    const idem = `pair:${Date.now()}:${n}`;
    const [ms] = await timed(async () => {
      await hold({ db: storage.db }, { accountId, amountU: 2n, idem });
      await capture({ db: storage.db }, idem, 1n);
    });
    tookMs.push(ms);
  }
  return tookMs;
}

/** Rounds of the check, one after the other without a pause. */
export async function checkRounds({ storage, query }: Stores, forMs: number) {
  const tookMs: number[] = [];
  let violations: LedgerViolation[] = [];
  const until = performance.now() + forMs;
  do {
    await query('update ledger_checks set attempted_at = null, failures = 0');
    const [ms, round] = await timed(() => checkLedgerInTurn(storage, 0));
    tookMs.push(ms);
    violations = [...violations, ...(round?.violations ?? [])];
  } while (performance.now() < until);
  return { tookMs, violations };
}

export async function wholeCheck({ storage }: Stores, progress: ProgressLine) {
  const began = performance.now();
  const violations = await wholeLedgerViolations(storage, ({ step, done, of }) =>
    progress.show(`books: ${step} ${done} of ${of}`),
  );
  return { tookMs: performance.now() - began, violations };
}
