import { repeat } from '@eloquentpoll/ops';
import { beat } from '@eloquentpoll/storage';
import type { OperatorsContext } from './context.ts';

// Records in Postgres each minute in which a gateway ran; the uptime figure is computed from that. It writes three
// times a minute, so that one failed write leaves no gap. Writing a minute twice changes nothing.

const EVERY_MS = 20_000;

export const startHeartbeat = (
  { storage, log }: Pick<OperatorsContext, 'storage' | 'log'>,
  everyMs = EVERY_MS,
): AsyncDisposable =>
  repeat(() => beat(storage, 'gateway'), {
    everyMs,
    firstMs: 0,
    onError: (err) => log.warn({ err }, 'heartbeat.write_failed'),
  });
