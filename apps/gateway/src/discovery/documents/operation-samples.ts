import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import type { Facts } from './facts.ts';
import { EXAMPLE } from './poll-prose.ts';

// A working request for each operation that takes a body or an id: the example in OpenAPI and the command in the
// reference. Requests that only a wallet can sign or only a page can send have none.

export interface RequestSample {
  /** Values of path and query parameters. */
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  body?: object;
}

const POLL = { ...EXAMPLE, preset: 'fast', max_cost_usd: 0.1 };
const RESULT = 'EP-2026-01-31-4q7x2mfzk5wtb3ha';
const BATCH = 'pb_0123456789abcdef0123456789abcdef';
const SESSION = 'ps_0123456789abcdefghjkmnpq';
const ENDPOINT = 'we_0123456789abcdef0123456789abcdef';
const DELIVERY = 'wd_0123456789abcdef0123456789abcdef';

export const SAMPLES: Readonly<Record<string, RequestSample>> = {
  createPoll: { body: POLL },
  createSession: { body: POLL },
  streamPoll: { body: POLL },
  dryRunPoll: { body: POLL },
  quickPoll: { body: EXAMPLE },
  estimatePoll: { query: { preset: 'fast', options: '4' } },
  getPanel: { path: { name: 'night-checks' } },
  // No body, because its models depend on the roster file; GET /api/panels lists them.
  savePanel: { path: { name: 'night-checks' } },
  removePanel: { path: { name: 'night-checks' } },
  createWebhookEndpoint: {
    body: { url: 'https://app.example.com/hooks', event_types: ['poll.completed', 'poll.failed'] },
  },
  getWebhookEndpoint: { path: { endpointId: ENDPOINT } },
  changeWebhookEndpoint: { path: { endpointId: ENDPOINT }, body: { status: 'enabled' } },
  removeWebhookEndpoint: { path: { endpointId: ENDPOINT } },
  getWebhookSecret: { path: { endpointId: 'account' } },
  rotateWebhookSecret: { path: { endpointId: ENDPOINT }, body: { overlap_s: 86_400 } },
  listWebhookDeliveries: { path: { endpointId: ENDPOINT }, query: { status: 'failed' } },
  testWebhookEndpoint: { path: { endpointId: ENDPOINT } },
  resendWebhookDelivery: { path: { endpointId: ENDPOINT, deliveryId: DELIVERY } },
  listPolls: { query: { limit: '20', status: 'completed' } },
  getSessionStatuses: { query: { ids: SESSION } },
  getSessionStatus: { path: { id: SESSION } },
  cancelSession: { path: { id: SESSION } },
  getSessionResult: { path: { id: SESSION } },
  createBatch: {
    body: {
      requests: [
        { custom_id: 'ticket-1', ...POLL },
        { custom_id: 'ticket-2', ...POLL, gold: POLL.options[0] },
      ],
      max_cost_usd: 5,
    },
  },
  listBatches: { query: { limit: '20' } },
  getBatch: { path: { batchId: BATCH } },
  getBatchResults: { path: { batchId: BATCH } },
  cancelBatch: { path: { batchId: BATCH } },
  deleteBatch: { path: { batchId: BATCH } },
  getResult: { path: { resultId: RESULT } },
  deleteResult: { path: { resultId: RESULT } },
  listResults: { query: { limit: '20' } },
  getMermaid: { path: { pollId: RESULT } },
  giveFeedback: { body: { poll_id: RESULT, outcome_correct: true } },
  getFeedback: { path: { pollId: RESULT } },
  matchIntents: { body: { text: 'Ask several models which name is best' } },
  createKey: { body: { label: 'production worker', limit_usd: 25, limit_reset: 'monthly' } },
  changeKey: {
    path: { keyId: '0b7e2c1a-4d5f-4e6a-8b9c-0d1e2f3a4b5c' },
    body: { limit_usd: 50, limit_reset: 'monthly' },
  },
  getUsage: { query: { group_by: 'day' } },
  setLowBalance: { body: { low_balance_usd: 5 } },
  revokeKey: { path: { keyId: '0b7e2c1a-4d5f-4e6a-8b9c-0d1e2f3a4b5c' } },
  createCheckout: { body: { amount_cents: 2500 } },
  getWalletChallenge: { query: { address: '0x52908400098527886E0F7030069857D2E4169EE7' } },
  getError: { path: { code: 'insufficient_balance' } },
  listModels: { query: { limit: '20' } },
  getModelReputation: {},
  getCalibration: {},
  listSurfaces: { body: { limit: 5 } },
  getSurface: { body: { pattern_id: 'mcp-server' } },
  getExample: { path: { language: 'typescript' } },
  speakMcp: {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'poll_question', arguments: POLL } },
  },
  createChatCompletion: {
    body: {
      model: 'eloquentpoll/free',
      messages: [{ role: 'user', content: `${EXAMPLE.question} [${EXAMPLE.options.join(', ')}]` }],
    },
  },
  getChatModel: { path: { model: 'eloquentpoll%2Fbroad' } },
  sendTask: {
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: { message: { role: 'user', messageId: 'm-1', parts: [{ kind: 'data', data: POLL }] } },
    },
  },
};

/** Without free polls, the chat sample uses a paid model. */
export function sampleOf(operationId: string, facts: Pick<Facts, 'panels'>): RequestSample {
  const sample = SAMPLES[operationId] ?? {};
  if (operationId !== 'createChatCompletion' || runsFreePolls(facts)) return sample;
  return { ...sample, body: { ...sample.body, model: 'eloquentpoll/fast' } };
}
