import { Pool } from 'undici';
import { costOfUsage } from './billing.ts';
import { exchange, type Reply } from './exchange.ts';
import { fromMessagesReply } from './messages-api.ts';
import type { Model, Provider } from './panel-types.ts';
import { type ErrorContext, findingsOfError, findingsOfReply, type ProbeFinding } from './probe-findings.ts';
import { composePrompt } from './prompt.ts';
import { addressOf, headersOf, PATHS, type ProviderSetting, providerKeyOf, settingsOf } from './provider-call.ts';
import { readProviderCost, readUsage, type Usage } from './read-answer.ts';
import { requestBody } from './request-body.ts';

export type { ProbeFinding } from './probe-findings.ts';

// One cheap vote at a real provider, and what is wrong with it. Unlike in a poll, the provider's error texts are shown,
// because the question is ours. The key is removed from them.

const TIMEOUT_MS = 60_000;
const MAX_REPLY_BYTES = 4 * 1024 * 1024;
const LIMIT_HEADER = /ratelimit|tokenlimit|^retry-after/;

export interface ProbeReport {
  provider: string;
  dialect: string;
  modelId: string;
  /** Null: no reply. */
  status: number | null;
  latencyMs: number;
  usage: Usage | null;
  /** Micro-USD: the cost stated by the provider, and that of its tokens at the roster's price. */
  cost: { saidU: number | null; countedU: number | null };
  /** The reply's headers about the provider's limits. */
  limits: Record<string, string>;
  /** Empty: nothing is wrong. */
  findings: ProbeFinding[];
}

const QUESTION = { question: 'Which of these is a colour?', options: ['Red', 'Seven'], seat: 0, seed: 'probe' };

export async function probeModel(provider: Provider, model: Model, setting: ProviderSetting): Promise<ProbeReport> {
  const report: ProbeReport = {
    provider: provider.name,
    dialect: provider.dialect,
    modelId: model.id,
    status: null,
    latencyMs: 0,
    usage: null,
    cost: { saidU: null, countedU: null },
    limits: {},
    findings: [],
  };
  const missing = settingsOf(provider).filter((name) => !setting(name)?.trim());
  if (missing.length > 0)
    return { ...report, findings: missing.map((name) => ({ code: 'setting_missing', says: `${name} is not set` })) };
  const key = providerKeyOf(provider, setting);
  const base = new URL(addressOf(provider, setting));
  await using pool = closing(base);
  const folder = base.pathname.replace(/\/$/, '');
  const call = (method: 'GET' | 'POST', path: string, body?: unknown): Promise<Reply> =>
    exchange(
      pool,
      {
        method,
        path: `${folder}${path}`,
        headers: headersOf(provider, key),
        body: body === undefined ? null : JSON.stringify(body),
      },
      AbortSignal.timeout(TIMEOUT_MS),
      { now: () => performance.now(), startedAt: null, answered: false },
    );
  const prompt = composePrompt(QUESTION);
  const body = requestBody({ model, provider, prompt, style: 'reason', search: false, repair: false, caller: 'probe' });
  const started = performance.now();
  try {
    const reply = await call('POST', PATHS[provider.takes.api], body);
    report.latencyMs = Math.round(performance.now() - started);
    report.status = reply.status;
    report.limits = limitsOf(reply.headers);
    if (reply.status < 200 || reply.status > 299) {
      const names = (): Promise<string[]> => call('GET', '/models').then(modelNames, () => []);
      const context: ErrorContext = { provider, model, key, sent: Object.keys(body), names };
      return { ...report, findings: await findingsOfError(reply, context) };
    }
    const raw: unknown = JSON.parse(reply.text);
    const read = provider.takes.api === 'messages' ? fromMessagesReply(raw) : raw;
    const usage = readUsage(read);
    report.usage = usage;
    // Without the fee, as on the provider's own pages.
    const countedU = usage && costOfUsage({ ...model, feePpm: 0 }, usage, false);
    report.cost = { saidU: readProviderCost(read), countedU };
    return { ...report, findings: findingsOfReply(read, model, prompt.labels, report.cost) };
  } catch (error) {
    const why = error instanceof SyntaxError ? 'the reply is no JSON' : whyOf(error);
    const says = `${base.origin} cannot be asked: ${why}`;
    return { ...report, findings: [{ code: 'no_answer', says, change: '"base_url" of the provider' }] };
  }
}

/** A pool that closes at the end of the block. */
function closing(base: URL): Pool & AsyncDisposable {
  const pool = new Pool(base.origin, {
    connections: 1,
    headersTimeout: TIMEOUT_MS,
    maxResponseSize: MAX_REPLY_BYTES,
    connect: { timeout: 5_000 },
  });
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.destroy() });
}

const whyOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : `no answer within ${TIMEOUT_MS / 1_000} s`;

function limitsOf(headers: Reply['headers']): Record<string, string> {
  const found = Object.entries(headers).filter(([name]) => LIMIT_HEADER.test(name));
  return Object.fromEntries(found.map(([name, value]) => [name, String(value).slice(0, 64)]));
}

/** Reads the reply of `GET /models`, which has one format at every vendor. Google prefixes names with `models/`. */
function modelNames({ text }: Reply): string[] {
  const body = JSON.parse(text) as { data?: { id?: unknown }[] };
  return (body.data ?? []).flatMap(({ id }) => (typeof id === 'string' ? [id.replace(/^models\//, '')] : []));
}
