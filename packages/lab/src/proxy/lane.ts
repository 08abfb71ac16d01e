import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LinkConditions } from './link-conditions.ts';

// One direction of one connection. Pieces leave in the order in which they came, each at its time. The buffer is
// bounded: reading pauses while it is full. The end of the stream is queued like a piece, so it does not overtake data.

const MAX_WAITING_BYTES = 1024 * 1024;

export interface LinkState {
  readonly conditions: LinkConditions;
  /** Resolves at once, or at the end of a blackhole. */
  passable(): Promise<void>;
  /** Returns a random number in [0, 1). */
  share(): number;
}

export function openLane(from: Socket, to: Socket, state: LinkState): { mute(): void } {
  const waiting: { bytes: Buffer | null; due: number }[] = [];
  let waitingBytes = 0;
  let lastDue = 0;
  let moving = false;
  let muted = false;

  function arrive(bytes: Buffer | null): void {
    if (muted) return;
    const { latencyMs = 0, jitterMs = 0 } = state.conditions;
    lastDue = Math.max(lastDue, performance.now() + latencyMs + jitterMs * state.share());
    waiting.push({ bytes, due: lastDue });
    waitingBytes += bytes?.length ?? 0;
    if (waitingBytes > MAX_WAITING_BYTES) from.pause();
    if (!moving) void move();
  }

  async function move(): Promise<void> {
    moving = true;
    for (let next = waiting.shift(); next !== undefined && !muted; next = waiting.shift()) {
      const early = next.due - performance.now();
      if (early > 0) await sleep(early);
      if (next.bytes === null) {
        await state.passable();
        if (!muted) to.end();
        break;
      }
      await hand(next.bytes);
      waitingBytes -= next.bytes.length;
      if (waitingBytes <= MAX_WAITING_BYTES) from.resume();
    }
    moving = false;
  }

  async function hand(bytes: Buffer): Promise<void> {
    const slice = state.conditions.sliceBytes ?? bytes.length;
    for (let at = 0; at < bytes.length; at += slice) {
      await state.passable();
      const piece = bytes.subarray(at, at + slice);
      const { bytesPerSecond } = state.conditions;
      if (bytesPerSecond !== undefined) await sleep((piece.length / bytesPerSecond) * 1_000);
      else if (slice < bytes.length) await sleep(0);
      if (muted || to.destroyed) return;
      if (!to.write(piece)) await Promise.race([once(to, 'drain'), once(to, 'close')]).catch(() => undefined);
    }
  }

  from.on('data', arrive);
  from.on('end', () => arrive(null));
  return {
    mute() {
      muted = true;
      waiting.length = 0;
      waitingBytes = 0;
      // Reading goes on, so that the sender sees a connection that works.
      from.resume();
    },
  };
}
