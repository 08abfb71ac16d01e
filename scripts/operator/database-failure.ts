import { isStorageError, openStorage, type Storage, type StorageOptions } from '@eloquentpoll/storage';

// A database that is away or refuses a command is one sentence, and exit code 2: code 1 says what the command found.

/** Null for any other error. */
export function databaseFailure(error: unknown): string | null {
  if (!isStorageError(error)) return null;
  const { message, cause } = error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

export async function withDatabase(
  command: string,
  options: StorageOptions,
  work: (storage: Storage) => Promise<void>,
): Promise<void> {
  try {
    await using storage = openStorage(options);
    await work(storage);
  } catch (error) {
    const failure = databaseFailure(error);
    if (failure === null) throw error;
    console.error(`${command}: ${failure}`);
    process.exitCode = 2;
  }
}
