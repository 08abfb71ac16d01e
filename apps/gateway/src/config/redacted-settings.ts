import { shownSettings } from '@eloquentpoll/ops';
import type { Environment } from './environment.ts';

// What is printed of the settings at start. A setting that is on neither list shows only that it is set.

const PLAIN = [
  'PORT',
  'HOST',
  'BASE_URL',
  'NODE_ENV',
  'DATABASE_POOL',
  'REDIS_PREFIX',
  'OIDC_CLIENT_ID',
  'CHAIN_ID',
  'X402_PAY_TO',
  'X402_ASSET',
  'RECONCILE_CHECKOUTS_S',
  'RECONCILE_DEPOSITS_S',
  'MODELS_FILE',
  'MCP_USER_ID_BEARER',
  'TRUST_PROXY',
  'RATE_LIMITS',
  'FREE_DAILY_CAP_USD',
  'CONTENT_SIGNAL',
  'CONTACT_EMAIL',
  'LOG_LEVEL',
  'LOG_SAMPLE',
  'OPS_HOST',
  'OPS_PORT',
  'DRAIN_DELAY_MS',
  'DRAIN_MS',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_SERVICE_NAME',
  'OTEL_TRACES_SAMPLER_ARG',
  'GIT_COMMIT',
] as const satisfies (keyof Environment)[];

const ADDRESSES = [
  'DATABASE_URL',
  'REDIS_URL',
  'OIDC_ISSUER',
  'ETH_RPC_URL',
  'STRIPE_API_BASE',
  'X402_FACILITATOR_URL',
  'MODELS_BASE_URL',
  'MODELS_REGISTRY_URL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
] as const satisfies (keyof Environment)[];

export const shown = (env: Environment): Record<string, string> =>
  shownSettings(env, { plain: PLAIN, addresses: ADDRESSES });
