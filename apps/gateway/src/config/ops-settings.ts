import { TraceSettingError, type TraceSettings, traceSettings } from '@eloquentpoll/ops';
import packageJson from '../../package.json' with { type: 'json' };
import type { Environment } from './environment.ts';
import { ConfigError, integer } from './settings.ts';

// What concerns those who run the service, and nobody who uses it.

export interface OpsSettings {
  /** Where metrics and probes are served; null where they are not. */
  ops: { host: string; port: number } | null;
  /** Opens the admin view on the ops port; null leaves it closed. */
  adminToken: string | null;
  /** Share of good answers that is written down. */
  logSample: number;
  /** Where traces go; null where nobody collects them. */
  traces: TraceSettings | null;
  /** After SIGTERM: how long it goes on as before, unready, and then how long it has to end. */
  drain: { delayMs: number; withinMs: number };
}

const LEAST_TOKEN = 16;

export function opsSettings(env: Environment): OpsSettings {
  const port = env.OPS_PORT === undefined ? null : integer(env, 'OPS_PORT', 0, 0, 65_535);
  return {
    ops: port === null ? null : { host: env.OPS_HOST ?? '127.0.0.1', port },
    adminToken: adminToken(env, port),
    logSample: logSample(env),
    traces: traces(env),
    drain: {
      delayMs: integer(env, 'DRAIN_DELAY_MS', 0, 0, 60_000),
      withinMs: integer(env, 'DRAIN_MS', 20_000, 500, 300_000),
    },
  };
}

function adminToken({ ADMIN_TOKEN: token }: Environment, port: number | null): string | null {
  if (token === undefined) return null;
  if (port === null) throw new ConfigError('ADMIN_TOKEN', 'is set, but OPS_PORT is not, and the view is served there');
  if (!/^[\x21-\x7e]+$/.test(token) || token.length < LEAST_TOKEN)
    throw new ConfigError('ADMIN_TOKEN', `must have at least ${LEAST_TOKEN} plain characters, without blanks`);
  return token;
}

function logSample({ LOG_SAMPLE: text = '1' }: Environment): number {
  const share = /^(0|1|0?\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(share)) throw new ConfigError('LOG_SAMPLE', `must be a share from 0 to 1, not "${text}"`);
  return share;
}

function traces(env: Environment): TraceSettings | null {
  try {
    return traceSettings(env, 'gateway', packageJson.version);
  } catch (error) {
    if (error instanceof TraceSettingError) throw new ConfigError(error.variable, error.message);
    throw error;
  }
}
