import { setTimeout as sleep } from 'node:timers/promises';

const AGAIN_MS = 250;

/** Retries while a busy machine answers 503, at times without faults. */
export async function untilServed(
  url: string,
  withinMs: number,
  init: RequestInit = {},
): Promise<{ status: number; text: string }> {
  for (const end = performance.now() + withinMs; ; await sleep(AGAIN_MS)) {
    const response = await fetch(url, init);
    const text = await response.text();
    if (response.status !== 503 || performance.now() > end) return { status: response.status, text };
  }
}
