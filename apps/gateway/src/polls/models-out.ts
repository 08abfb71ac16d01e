import { type FailedModel, readFailedModels, type Storage } from '@eloquentpoll/storage';

// The models that failed their test questions, as this process last read them. Only the first poll waits for a read.
// While Postgres is away the last list stays in use.

const FRESH_MS = 5_000;

export interface ModelsOut {
  now(): Promise<ReadonlyMap<string, FailedModel>>;
}

interface Keeping {
  storage: Storage;
  onError(error: unknown): void;
  clock?: () => number;
}

export function keepModelsOut({ storage, onError, clock = () => performance.now() }: Keeping): ModelsOut {
  let out: ReadonlyMap<string, FailedModel> = new Map();
  let isKnown = false;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    // Set before the read, so that Postgres is not asked more often during an outage.
    readAt = clock();
    try {
      const failed = new Map((await readFailedModels(storage)).map((model) => [model.modelId, model]));
      // Keep the same Map object while nothing changes: `panelInService` compares it by identity.
      if (!sameModels(failed, out)) out = failed;
    } catch (error) {
      onError(error);
    } finally {
      isKnown = true;
      reading = null;
    }
  }

  return {
    async now() {
      if (clock() - readAt >= FRESH_MS) reading ??= read();
      if (!isKnown) await reading;
      return out;
    },
  };
}

const sameModels = (a: ReadonlyMap<string, FailedModel>, b: ReadonlyMap<string, FailedModel>): boolean =>
  a.size === b.size && [...a.keys()].every((id) => b.has(id));
