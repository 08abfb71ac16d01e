import { buildApp } from '@eloquentpoll/gateway/app';
import { keepBatchesRunning } from '@eloquentpoll/gateway/batch-runner';
import { readConfig as readGatewayConfig } from '@eloquentpoll/gateway/config';
import { type Context, openContext as openGateway } from '@eloquentpoll/gateway/context';
import { createLog } from '@eloquentpoll/gateway/log';
import { loadPanels } from '@eloquentpoll/models/panels';
import { buildSimulator } from '@eloquentpoll/simulator/app';
import { FAKE_TOKEN, fakeChain } from '@eloquentpoll/testkit/fakes/chain';
import { fakeFacilitator } from '@eloquentpoll/testkit/fakes/facilitator';
import { FAKE_PAY_TO } from '@eloquentpoll/testkit/fakes/payer';
import { type LyingProvider, lyingProvider } from '@eloquentpoll/testkit/fakes/provider';
import { fakeRegistry } from '@eloquentpoll/testkit/fakes/registry';
import { fakeStripe } from '@eloquentpoll/testkit/fakes/stripe';
import { readConfig } from '@eloquentpoll/worker/config';
import { openContext as openWorker } from '@eloquentpoll/worker/context';
import { openWebhookDelivery } from '@eloquentpoll/worker/open-webhook-delivery';
import { servePolls } from '@eloquentpoll/worker/serve-polls';
import { NO_RATE_LIMITS } from '../fixture/no-rate-limits.ts';

// The whole service in this process, with everything configured: cards, deposits, logins, a model registry, all on
// loopback. No part of it is replaced; its log lines are passed to us.

export interface FuzzedService extends AsyncDisposable {
  readonly origin: string;
  readonly gateway: Context;
  readonly stripe: Awaited<ReturnType<typeof fakeStripe>>;
  readonly provider: LyingProvider;
  /** Secret values of settings, by name; they must not appear in any answer or log. */
  readonly settingSecrets: Readonly<Record<string, string>>;
}

export interface FuzzedServiceOptions {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly redisPrefix: string;
  readonly onLog: (line: string) => void;
  /** Use the default limits of an operator; otherwise limits that a run cannot reach. */
  readonly realLimits?: boolean;
  /** Also run what works in the background: batch rows, webhooks to this machine, receipts. */
  readonly isWhole?: boolean;
  /** What models give as their reasons, one each. */
  readonly reasons?: readonly string[];
}

const SECRETS = {
  KEY_PEPPER: 'pepper-canary-5b1f0c7a9d3e4826a1',
  COOKIE_SECRETS: 'cookie-canary-77e2d90b4c6f41a3b8',
  STRIPE_SECRET_KEY: 'sk_test_12345678',
  X402_FACILITATOR_TOKEN: 'facilitator-canary-19c4e5',
  WEBHOOK_SEALING_KEYS: 'sealing-canary-3a7c51d2e89f4b06a5c4',
};

const SIGNING_KEY = '5ecb1f7e0c3d4a29b8f6a1d07c9e3b5240f8d6e1a7c3b9502d4e6f8a1b3c5d7e';

/** By the id of the model. */
function reasonsOfModels(reasons: readonly string[]): Record<string, { rationale: string }> {
  if (reasons.length === 0) return {};
  const models = loadPanels({ file: 'simulator' }).models();
  return Object.fromEntries(models.map(({ id }, i) => [id, { rationale: reasons[i % reasons.length]! }]));
}

export async function startFuzzedService(options: FuzzedServiceOptions): Promise<FuzzedService> {
  await using made = new AsyncDisposableStack();
  const t = { teardown: (end: () => unknown) => void made.defer(async () => void (await end())) };
  const simulator = buildSimulator({ latencyScale: 0, models: reasonsOfModels(options.reasons ?? []) });
  const models = await simulator.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => simulator.close());
  const [chain, stripe, registry, provider] = await Promise.all([
    fakeChain(t),
    fakeStripe(t),
    fakeRegistry(t),
    lyingProvider(t),
  ]);
  const facilitator = await fakeFacilitator(t, chain);
  const settings = {
    ...SECRETS,
    DATABASE_URL: options.databaseUrl,
    REDIS_URL: options.redisUrl,
    REDIS_PREFIX: options.redisPrefix,
    DATABASE_POOL: '20',
    BASE_URL: 'http://localhost:8080',
    PORT: '0',
    MODELS_FILE: 'simulator',
    MODELS_BASE_URL: `${models}/v1`,
    MODELS_REGISTRY_URL: registry.url,
    STRIPE_API_BASE: stripe.settings.apiBase,
    STRIPE_WEBHOOK_SECRETS: stripe.secrets.join(),
    CHAIN_ID: '84532',
    ETH_RPC_URL: chain.url,
    X402_PAY_TO: FAKE_PAY_TO,
    X402_ASSET: FAKE_TOKEN,
    X402_FACILITATOR_URL: facilitator.url,
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
    FREE_DAILY_CAP_USD: '900000',
    STREAMS_PER_NETWORK: '1000000',
    LOG_LEVEL: 'trace',
    // Without it, receipts are answered 503, and without a body a HEAD does not say why.
    RECEIPT_SIGNING_KEY: SIGNING_KEY,
    ...(options.isWhole && { WEBHOOKS_TO_LOOPBACK: 'on' }),
    ...(!options.realLimits && { RATE_LIMITS: NO_RATE_LIMITS }),
  };
  const sink = { write: options.onLog };
  const workerConfig = readConfig({ ...settings, LOG_LEVEL: 'silent' });
  const worker = made.use(await openWorker(workerConfig));
  const delivery = options.isWhole ? openWebhookDelivery(workerConfig, worker) : null;
  if (delivery) made.use(delivery);
  const consumer = servePolls(worker, { concurrency: 20, flex: { concurrency: 5, reserved: 1 } });
  made.defer(() => consumer.drain(2_000));

  const config = readGatewayConfig(settings);
  const gateway = made.use(await openGateway(config, { log: createLog(config, sink) }));
  const app = buildApp(gateway);
  made.defer(() => app.close());
  if (options.isWhole) made.use(keepBatchesRunning(gateway));
  const [origin] = await Promise.all([app.listen({ host: '127.0.0.1', port: 0 }), consumer.ready()]);
  const kept = made.move();
  return {
    origin,
    gateway,
    stripe,
    provider,
    settingSecrets: { ...SECRETS, 'the receipt key': SIGNING_KEY, 'the webhook secret': stripe.secrets[0]! },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
