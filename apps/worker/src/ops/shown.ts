import { shownSettings } from '@eloquentpoll/ops';
import { SETTINGS } from '../config.ts';

// What is printed of the settings at start. A setting that is on neither list shows only that it is set.

const ADDRESSES = [
  'DATABASE_URL',
  'REDIS_URL',
  'MODELS_BASE_URL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
];
const SECRET = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_RESOURCE_ATTRIBUTES'];

export function shown(env: NodeJS.ProcessEnv): Record<string, string> {
  const plain = SETTINGS.filter((name) => !ADDRESSES.includes(name) && !SECRET.includes(name));
  return shownSettings(Object.fromEntries(SETTINGS.map((name) => [name, env[name]])), { plain, addresses: ADDRESSES });
}
