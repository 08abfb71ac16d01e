import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

// Tracks every open answer, so that each wait in the simulator ends: when its client disconnects, or when the server
// closes. Hangs end at once on closing; regular answers get a moment to finish.

export interface Exchange {
  /** Aborts when the client has disconnected. */
  signal: AbortSignal;
  /** Waits this long, or until aborted. */
  pause(milliseconds: number): Promise<void>;
  /** Waits until aborted. */
  hang(): Promise<never>;
  end(): void;
}

/** Thrown by a wait that was aborted. */
export class Gone extends Error {}

export class Exchanges {
  readonly #open = new Set<{ controller: AbortController; hanging: boolean }>();
  #closing = false;
  #whenEmpty: (() => void) | null = null;

  get size(): number {
    return this.#open.size;
  }

  open(reply: FastifyReply): Exchange {
    const entry = { controller: new AbortController(), hanging: false };
    const { signal } = entry.controller;
    const response: ServerResponse = reply.raw;
    const onClose = () => entry.controller.abort();
    response.once('close', onClose);
    this.#open.add(entry);
    return {
      signal,
      pause: (milliseconds) => pause(milliseconds, signal),
      hang: () => {
        entry.hanging = true;
        if (this.#closing) entry.controller.abort();
        return hang(signal);
      },
      end: () => {
        response.off('close', onClose);
        this.#open.delete(entry);
        if (this.#open.size === 0) this.#whenEmpty?.();
      },
    };
  }

  /** Ends hangs now and everything else within the given time. */
  async close(drainMs: number): Promise<void> {
    this.#closing = true;
    for (const { controller, hanging } of this.#open) if (hanging) controller.abort();
    if (this.#open.size > 0)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, drainMs);
        this.#whenEmpty = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    for (const { controller } of this.#open) controller.abort();
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Gone());
    if (milliseconds <= 0) return resolve();
    const onAbort = () => {
      clearTimeout(timer);
      reject(new Gone());
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, milliseconds);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(new Gone());
    signal.addEventListener('abort', () => reject(new Gone()), { once: true });
  });
}
