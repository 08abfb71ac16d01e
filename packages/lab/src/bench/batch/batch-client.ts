import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';

// A client that uploads a file and repeats each request, at another gateway, until it gets a final answer.

export interface RowCounts {
  total: number;
  waiting: number;
  running: number;
  success: number;
  partial: number;
  failed: number;
  canceled: number;
  not_run: number;
}

export interface BatchState {
  batch_id: string;
  status: string;
  counts: RowCounts;
  cost_usd: number;
}

export interface BatchClient {
  upload(rows: number): Promise<BatchState>;
  read(id: string): Promise<BatchState>;
  /** The number of result lines, in total and by outcome, and of different custom ids in them. */
  results(id: string): Promise<{ lines: number; ids: number; outcomes: Map<string, number> }>;
}

/** The models of the bench all vote for the first one. */
export const OPTIONS = ['answer 8', 'answer 9', 'answer 10'];

const RETRY_MS = 250;
const TRIES = 100;

export function batchClient(key: string, anyPort: () => number): BatchClient {
  const authorization = `Bearer ${key}`;

  async function persist<T>(what: string, once: (origin: string) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await once(`http://127.0.0.1:${anyPort()}`);
      } catch (error) {
        if (error instanceof Refused || tries === TRIES)
          throw new Error(`${what} failed: ${String(error)}`, { cause: error });
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  return {
    upload: (rows) =>
      persist('the upload', async (origin) => {
        const response = await fetch(`${origin}/api/batches?preset=fast`, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/jsonl', 'idempotency-key': `bench-${rows}` },
          body: Readable.toWeb(Readable.from(linesOf(rows))) as ReadableStream,
          duplex: 'half',
        });
        return (await answerOf(response)) as BatchState;
      }),
    read: (id) =>
      persist('reading the batch', async (origin) =>
        answerOf(await fetch(`${origin}/api/batches/${id}`, { headers: { authorization } })),
      ) as Promise<BatchState>,
    results: (id) =>
      persist('reading the results', async (origin) => {
        const response = await fetch(`${origin}/api/batches/${id}/results`, { headers: { authorization } });
        if (!response.ok || !response.body) throw await refusalOf(response);
        const outcomes = new Map<string, number>();
        const ids = new Set<string>();
        let lines = 0;
        for await (const text of createInterface({ input: Readable.fromWeb(response.body) })) {
          const { custom_id, status } = JSON.parse(text) as { custom_id: string; status: string };
          lines += 1;
          ids.add(custom_id);
          outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
        }
        return { lines, ids: ids.size, outcomes };
      }),
  };
}

/** A final refusal: a repeated request would get the same answer. */
class Refused extends Error {}

async function refusalOf(response: Response): Promise<Error> {
  const text = `${response.status}: ${(await response.text()).slice(0, 300)}`;
  return response.status >= 500 || response.status === 429 || response.status === 409
    ? new Error(text)
    : new Refused(text);
}

async function answerOf(response: Response): Promise<unknown> {
  if (!response.ok) throw await refusalOf(response);
  return response.json();
}

function* linesOf(rows: number): Generator<string> {
  for (let i = 0; i < rows; i++) {
    const row = { custom_id: `row-${i}`, question: `Which of these materials suits case ${i} best?`, options: OPTIONS };
    yield `${JSON.stringify(row)}\n`;
  }
}
