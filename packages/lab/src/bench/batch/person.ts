import { sleepUnlessAborted } from '../../fixture/sleep-unless-aborted.ts';
import { OPTIONS } from './batch-client.ts';

// One person who asks, reads the answer, and asks again.

const READS_MS = 100;

export interface AskingPerson extends AsyncDisposable {
  /** Of requests sent since the mark: the milliseconds of each answer. `lost` counts requests without an answer. */
  since(mark: number): { took: number[]; lost: number };
  /** The present moment, for `since`. */
  mark(): number;
}

export function askingPerson(key: string, anyPort: () => number): AskingPerson {
  const answers: { at: number; ms: number | null }[] = [];
  const stop = new AbortController();

  async function ask(n: number): Promise<void> {
    const at = performance.now();
    const ok = await fetch(`http://127.0.0.1:${anyPort()}/api/poll`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        question: `Which of these is the best, please (${n})?`,
        options: OPTIONS,
        preset: 'fast',
      }),
      signal: AbortSignal.timeout(60_000),
    }).then(
      async (response) => response.ok && (await response.text()).length > 0,
      () => false,
    );
    answers.push({ at, ms: ok ? performance.now() - at : null });
  }

  async function live(): Promise<void> {
    for (let n = 0; !stop.signal.aborted; n++) {
      await ask(n);
      await sleepUnlessAborted(READS_MS, stop.signal);
    }
  }

  const living = live();
  return {
    mark: () => performance.now(),
    since(mark) {
      const found = answers.filter(({ at }) => at >= mark);
      return { took: found.flatMap(({ ms }) => ms ?? []), lost: found.filter(({ ms }) => ms === null).length };
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await living;
    },
  };
}
