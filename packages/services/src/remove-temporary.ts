import { rm } from 'node:fs/promises';

/** Several attempts, 5 s in all: a program that has just been killed, or is about to end, may still write there. */
export async function removeTemporary(folders: Iterable<string>): Promise<void> {
  for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
