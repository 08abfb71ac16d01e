import type { Bus } from '@eloquentpoll/bus';
import type { Replica, Storage } from '@eloquentpoll/storage';
import type { ProcessContext } from '../config/context.ts';
import { directReads, type LaggingReads, laggingReads } from './lagging-reads.ts';
import { type RateLimiter, rateLimiter } from './rate-limits/rate-limiter.ts';
import { Shutdown } from './shutdown.ts';
import { type StreamSlots, streamSlots } from './sse/stream-slots.ts';
import { type StreamWheel, streamWheel } from './sse/stream-wheel.ts';

/** Everything that request handling needs, whatever the requests are about. */
export interface HttpContext extends ProcessContext {
  readonly storage: Storage;
  readonly bus: Bus;
  /** For lists, usage and figures; see lagging-reads.ts. */
  readonly lists: LaggingReads;
  /** Whether a deposit can open an account here, so that refusals may name it as a way to a key. */
  readonly takesDeposits: boolean;
  readonly limiter: RateLimiter;
  /** The open event streams. */
  readonly streams: StreamWheel;
  readonly streamSlots: StreamSlots;
  readonly shutdown: Shutdown;
}

export function openHttpContext(
  base: ProcessContext & Pick<HttpContext, 'storage' | 'bus' | 'takesDeposits'> & { replica: Replica | null },
  owned: AsyncDisposableStack,
  overrides: Partial<HttpContext>,
): HttpContext {
  const { replica, ...given } = base;
  const { bus, config, metrics, storage } = given;
  return {
    ...given,
    lists: overrides.lists ?? (replica ? laggingReads({ replica, bus, metrics }) : directReads(storage)),
    limiter: overrides.limiter ?? rateLimiter(bus.redis, bus.prefix, config.rateLimits),
    streams: overrides.streams ?? owned.use(streamWheel()),
    streamSlots: overrides.streamSlots ?? streamSlots(bus.redis, bus.prefix, config.streams),
    shutdown: new Shutdown(),
  };
}
