import { StorageUnavailable } from './errors.ts';

// Calls that arrive while an earlier one is in progress go to Postgres together, so that they share a transaction, its
// round trip and its commit. A call that arrives alone is sent in the same turn of the event loop.

interface Waiting<Item, Answer> {
  item: Item;
  answer: PromiseWithResolvers<Answer>;
}

/** A joint call was not sent: the `cause` is the answer to each of its items. */
export class NotSent extends Error {
  constructor(cause: unknown) {
    super('the call was not sent', { cause });
  }
}

export interface Gathering<Item, Answer> {
  /**
   * Answers in the order of the items. An item without an answer is tried alone; so is every item if the call throws,
   * unless nothing was sent (`NotSent`, or no connection): alone, each would wait for the same thing again.
   */
  together(items: readonly Item[]): Promise<readonly (Answer | undefined)[]>;
  /** `lost`: what the joint call threw. It is then unknown whether the call did its work. */
  alone(item: Item, lost?: unknown): Promise<Answer>;
  /** For the log: a joint call was sent and threw, and each of its items is tried alone. */
  onLost?: ((error: unknown) => void) | undefined;
  /** Maximum number of items in one call. */
  max: number;
  /** Maximum number of calls in progress. */
  atOnce: number;
  /** A call that takes longer no longer counts as in progress, so that later calls do not wait for its locks. */
  countedMs?: number;
}

export function gather<Item, Answer>(how: Gathering<Item, Answer>): (item: Item) => Promise<Answer> {
  const waiting: Waiting<Item, Answer>[] = [];
  let underWay = 0;
  let isPlanned = false;
  const next = () => {
    isPlanned = false;
    while (waiting.length > 0 && underWay < how.atOnce) {
      underWay += 1;
      void counted(send(how, waiting.splice(0, how.max)), how.countedMs).then(() => {
        underWay -= 1;
        next();
      });
    }
  };
  return (item) => {
    const answer = Promise.withResolvers<Answer>();
    waiting.push({ item, answer });
    // Wait for the end of this turn, so that items that arrive in it are sent along.
    if (!isPlanned && underWay < how.atOnce) {
      isPlanned = true;
      setImmediate(next);
    }
    return answer.promise;
  };
}

/** Gathers items with the same key; items with other keys never wait for them. */
export function gatherBy<Item, Answer>(
  keyOf: (item: Item) => string,
  how: Gathering<Item, Answer>,
): (item: Item) => Promise<Answer> {
  const used = new Map<string, { call: (item: Item) => Promise<Answer>; calls: number }>();
  return async (item) => {
    const key = keyOf(item);
    const same = used.get(key) ?? { call: gather(how), calls: 0 };
    used.set(key, same);
    same.calls += 1;
    try {
      return await same.call(item);
    } finally {
      same.calls -= 1;
      if (same.calls === 0) used.delete(key);
    }
  };
}

/** Settles when the call does, or once the call is no longer counted. */
function counted(call: Promise<void>, countedMs: number | undefined): Promise<void> {
  if (countedMs === undefined) return call;
  return new Promise((resolve) => {
    const late = setTimeout(resolve, countedMs);
    void call.then(() => {
      clearTimeout(late);
      resolve();
    });
  });
}

async function send<Item, Answer>(how: Gathering<Item, Answer>, calls: Waiting<Item, Answer>[]): Promise<void> {
  const items = calls.map(({ item }) => item);
  let answers: readonly (Answer | undefined)[] = [];
  let lost: unknown;
  try {
    if (items.length > 1) answers = await how.together(items);
  } catch (error) {
    if (!wasSent(error)) {
      for (const { answer } of calls) answer.reject(error instanceof NotSent ? error.cause : error);
      return;
    }
    lost = error;
    how.onLost?.(error);
  }
  const trySingly = async ({ item, answer }: Waiting<Item, Answer>) =>
    how.alone(item, lost).then(answer.resolve, answer.reject);
  await Promise.all(
    calls.map((call, i) => {
      const answered = answers[i];
      return answered === undefined ? trySingly(call) : call.answer.resolve(answered);
    }),
  );
}

const wasSent = (error: unknown): boolean =>
  !(error instanceof NotSent || (error instanceof StorageUnavailable && !error.wasSent));
