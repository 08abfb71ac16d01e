import { newBatchId } from '@eloquentpoll/polls';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { type Route, routesOf } from '../fixtures/routes.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

// The id of another account's object gives no access to it. The routes come from the router: one that takes an id and is
// not named here fails the test.

const gateway = await build(t, { webhooks: { sealingKeys: ['a sealing key of 32 characters ..'], toLoopback: false } });
const { app, context, keyWith, sessionFor } = gateway;
await standInWorker(t, context);

interface Person {
  name: string;
  headers: { key: Record<string, string>; cookie: Record<string, string>; none: Record<string, string> };
  /** In all of their data that other accounts may not see. */
  mark: string;
  session: string;
  batch: string;
  task: string;
  result: string;
}
type Credential = keyof Person['headers'];

async function person(name: string, isPoor = false): Promise<Person> {
  const { accountId, bearer } = await keyWith(5);
  const mark = `mark-of-${name}`;
  const order = { question: `What does ${mark} think is best?`, options: ['A', 'B'] };
  const ask = (url: string, payload: object) => app.inject({ method: 'POST', url, headers: bearer, payload });
  const session = (await ask('/api/polls', order)).json().session_id;
  const batch = (await ask('/api/batches', { requests: [{ ...order, max_cost_usd: 0.01, gold: 'A' }] })).json()
    .batch_id;
  const status = { url: `/api/polls/${session}/status`, headers: { ...bearer, prefer: 'wait=30' } };
  const result = (await app.inject(status)).json().result_id;
  const message = { role: 'user', parts: [{ text: JSON.stringify(order) }] };
  const task = (await ask('/api/a2a/tasks/send', rpc('SendMessage', { message }))).json().result.task.id;
  if (isPoor) await takeAllMoney(accountId);
  const headers = { key: bearer, cookie: await sessionFor(accountId), none: {} };
  return { name, headers, mark, session, batch, task, result };
}

const takeAllMoney = (id: string) =>
  gateway.asOwner(`update balances set held_u = posted_u where account_id = '${id}'`);

const keyIdOf = async (headers: Record<string, string>, label: string): Promise<string> =>
  (await app.inject({ method: 'POST', url: '/api/keys', headers, payload: { label } })).json().id;

/** `own`: others get a 404. `public`: anyone who holds the id may read what is public. `catalogue`: of no account. */
interface Access {
  kind: 'own' | 'public' | 'catalogue';
  /** Credentials that open it to its owner; others are a 401. */
  by?: Credential[];
  /** The status that its owner gets instead of 200. */
  opens?: number;
  /** The status that others get instead of 404. */
  others?: number;
  /** The status without such a credential, instead of 401. */
  without?: number;
  ask?: (of: Person) => { url: string; payload?: object; headers?: Record<string, string> } | Promise<{ url: string }>;
}

const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
const ORDER = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const onlyKey: Credential[] = ['key'];

/** Its name is unlike those of others. */
async function savedPanelOf({ headers, mark }: Person): Promise<{ url: string }> {
  const models = context.panels
    .models()
    .slice(0, 3)
    .map(({ id }) => id);
  const url = `/api/panels/${mark}`;
  await app.inject({ method: 'PUT', url, headers: headers.key, payload: { models } });
  return { url };
}

/** One for all operations on it: an account has few. */
const endpoints = new Map<Person, string>();

async function endpointOf(owner: Person): Promise<string> {
  const known = endpoints.get(owner) ?? (await newEndpointOf(owner));
  endpoints.set(owner, known);
  return known;
}

async function newEndpointOf({ headers, mark }: Person): Promise<string> {
  const payload = { url: 'https://receiver.example.com/hooks', description: mark };
  const made = await app.inject({ method: 'POST', url: '/api/webhook-endpoints', headers: headers.key, payload });
  return `/api/webhook-endpoints/${made.json().endpoint_id}`;
}

/** The same on the dashboard. */
const onPage = (path: string): string => path.replace('/api/webhook-endpoints', '/dashboard/webhooks');

/** A form that leads back to the endpoint. */
function endpointForm(name: string): Access {
  const ask = async (owner: Person) => ({ url: `${onPage(await endpointOf(owner))}/${name}` });
  return { kind: 'own', opens: 303, by: ['cookie'], ask };
}

async function deliveryOf(owner: Person): Promise<string> {
  const url = await endpointOf(owner);
  const sent = await app.inject({ method: 'POST', url: `${url}/test`, headers: owner.headers.key });
  return `${url}/deliveries/${sent.json().delivery_id}`;
}

/** Free, so that one can have it without money. */
async function pollToDelete({ headers }: Person): Promise<string> {
  const payload = { ...ORDER, theme: 'free' };
  const asked = await app.inject({ method: 'POST', url: '/api/quick-poll', headers: headers.key, payload });
  return asked.json().poll_id;
}

async function endedBatchOf({ batch }: Person): Promise<{ url: string }> {
  const id = newBatchId();
  await gateway.asOwner(
    `insert into batches (id, account_id, status, skipped, expires_at, ended_at)
     select '${id}', account_id, 'completed', '{"count":0,"first":[]}', now(), now() from batches where id = '${batch}'`,
  );
  return { url: `/api/batches/${id}` };
}

const batchAccess = (path = ''): Access => ({
  kind: 'own',
  by: ['key', 'cookie'],
  ask: ({ batch }) => ({ url: `/api/batches/${batch}${path}` }),
});

const ACCESS: Record<string, Access> = {
  'GET /api/polls/{id}/status': {
    kind: 'own',
    by: onlyKey,
    ask: ({ session }) => ({ url: `/api/polls/${session}/status` }),
  },
  'GET /api/polls/{id}/result': {
    kind: 'own',
    by: onlyKey,
    ask: ({ session }) => ({ url: `/api/polls/${session}/result` }),
  },
  'GET /api/webhook-endpoints/{endpointId}': {
    kind: 'own',
    by: ['key', 'cookie'],
    ask: async (owner) => ({ url: await endpointOf(owner) }),
  },
  'PATCH /api/webhook-endpoints/{endpointId}': {
    kind: 'own',
    by: ['key', 'cookie'],
    ask: async (owner) => ({ url: await endpointOf(owner), payload: { event_types: ['poll.failed'] } }),
  },
  'DELETE /api/webhook-endpoints/{endpointId}': {
    kind: 'own',
    by: ['key', 'cookie'],
    ask: async (owner) => ({ url: await newEndpointOf(owner) }),
  },
  'GET /api/webhook-endpoints/{endpointId}/secret': {
    kind: 'own',
    by: ['key', 'cookie'],
    ask: async (owner) => ({ url: `${await endpointOf(owner)}/secret` }),
  },
  'POST /api/webhook-endpoints/{endpointId}/rotate-secret': {
    kind: 'own',
    by: ['key', 'cookie'],
    ask: async (owner) => ({ url: `${await endpointOf(owner)}/rotate-secret`, payload: {} }),
  },
  'GET /api/webhook-endpoints/{endpointId}/deliveries': {
    kind: 'own',
    by: ['key', 'cookie'],
    ask: async (owner) => ({ url: `${await endpointOf(owner)}/deliveries` }),
  },
  'POST /api/webhook-endpoints/{endpointId}/test': {
    kind: 'own',
    opens: 202,
    by: ['key', 'cookie'],
    ask: async (owner) => ({ url: `${await endpointOf(owner)}/test` }),
  },
  'POST /api/webhook-endpoints/{endpointId}/deliveries/{deliveryId}/resend': {
    kind: 'own',
    opens: 202,
    by: ['key', 'cookie'],
    ask: async (owner) => ({ url: `${await deliveryOf(owner)}/resend` }),
  },
  'POST /api/polls/{id}/cancel': {
    kind: 'own',
    by: ['key', 'cookie'],
    ask: ({ session }) => ({ url: `/api/polls/${session}/cancel` }),
  },
  'GET /api/batches/{batchId}': batchAccess(),
  'GET /api/batches/{batchId}/results': batchAccess('/results'),
  'GET /api/batches/{batchId}/report': batchAccess('/report'),
  'POST /api/batches/{batchId}/cancel': batchAccess('/cancel'),
  'DELETE /api/batches/{batchId}': { ...batchAccess(), ask: endedBatchOf },
  'DELETE /api/keys/{keyId}': {
    kind: 'own',
    by: ['key', 'cookie'],
    ask: async (of) => ({ url: `/api/keys/${await keyIdOf(of.headers.key, of.mark)}` }),
  },
  'PATCH /api/keys/{keyId}': {
    kind: 'own',
    by: ['key', 'cookie'],
    ask: async (of) => ({
      url: `/api/keys/${await keyIdOf(of.headers.key, of.mark)}`,
      payload: { read_only: true },
    }),
  },
  'GET /api/panels/{name}': { kind: 'own', by: ['key', 'cookie'], ask: savedPanelOf },
  'DELETE /api/panels/{name}': { kind: 'own', by: ['key', 'cookie'], ask: savedPanelOf },
  // Saves a panel of the caller's own under that name: shown in chosen-models.test.ts.
  'PUT /api/panels/{name}': { kind: 'own' },
  'GET /dashboard/batches/{batchId}/report': {
    kind: 'own',
    by: ['cookie'],
    ask: ({ batch }) => ({ url: `/dashboard/batches/${batch}/report` }),
  },
  'GET /dashboard/keys/{keyId}/revoke': {
    kind: 'own',
    by: ['cookie'],
    others: 303,
    ask: async (of) => ({ url: `/dashboard/keys/${await keyIdOf(of.headers.key, of.mark)}/revoke` }),
  },
  'GET /dashboard/webhooks/{endpointId}': {
    kind: 'own',
    by: ['cookie'],
    ask: async (owner) => ({ url: onPage(await endpointOf(owner)) }),
  },
  'POST /dashboard/webhooks/{endpointId}/test': endpointForm('test'),
  'POST /dashboard/webhooks/{endpointId}/rotate': endpointForm('rotate'),
  'POST /dashboard/webhooks/{endpointId}/deliveries/{deliveryId}/resend': {
    kind: 'own',
    opens: 303,
    by: ['cookie'],
    ask: async (owner) => ({ url: `${onPage(await deliveryOf(owner))}/resend` }),
  },
  'POST /dashboard/webhooks/{endpointId}/disable': endpointForm('disable'),
  'POST /dashboard/webhooks/{endpointId}/enable': endpointForm('enable'),
  'POST /dashboard/webhooks/{endpointId}/remove': {
    kind: 'own',
    opens: 303,
    by: ['cookie'],
    ask: async (owner) => ({ url: `${onPage(await newEndpointOf(owner))}/remove` }),
  },
  'GET /dashboard/batches/{batchId}': { kind: 'own' },
  // Lead back whatever they did: that it was nothing is shown in dashboard-batches.test.ts.
  'POST /dashboard/batches/{batchId}/cancel': { kind: 'own' },
  'POST /dashboard/batches/{batchId}/delete': { kind: 'own' },
  'GET /dashboard/keys/{keyId}': {
    kind: 'own',
    by: ['cookie'],
    others: 303,
    ask: async (of) => ({ url: `/dashboard/keys/${await keyIdOf(of.headers.key, of.mark)}` }),
  },
  'POST /dashboard/keys/{keyId}': { kind: 'own' },
  'POST /dashboard/keys/{keyId}/rotate': { kind: 'own' },
  // Leads back whatever it did: that it did nothing is shown in key-forms.test.ts.
  'POST /dashboard/keys/{keyId}/revoke': { kind: 'own' },
  // The same: that it cancels polls of the account alone is shown in dashboard-polls.test.ts.
  'POST /dashboard/polls/{id}/cancel': { kind: 'own' },
  'POST /api/poll/stream': {
    kind: 'own',
    by: onlyKey,
    ask: ({ session }) => ({ url: '/api/poll/stream', payload: ORDER, headers: { 'last-event-id': `${session}:0` } }),
  },
  'POST /api/poll': {
    kind: 'own',
    by: ['key', 'cookie'],
    without: 404,
    ask: ({ session }) => ({
      url: '/api/poll',
      payload: ORDER,
      headers: { accept: 'text/event-stream', 'last-event-id': `${session}:0` },
    }),
  },
  'POST /api/quick-poll': {
    kind: 'own',
    by: onlyKey,
    without: 404,
    ask: ({ session }) => ({
      url: '/api/quick-poll',
      payload: { poll: 'Which of the two is larger? [Sun, Moon]' },
      headers: { accept: 'text/event-stream', 'last-event-id': `${session}:0` },
    }),
  },
  'POST /api/a2a/tasks/send': {
    kind: 'own',
    by: onlyKey,
    // The error is in the body: see send-rpc-error.ts.
    others: 200,
    ask: ({ task }) => ({ url: '/api/a2a/tasks/send', payload: rpc('GetTask', { id: task }) }),
  },
  'DELETE /api/results/{resultId}': {
    kind: 'own',
    by: ['key', 'cookie'],
    ask: async (of) => ({ url: `/api/results/${await pollToDelete(of)}` }),
  },
  'GET /api/results/{resultId}': { kind: 'public', ask: ({ result }) => ({ url: `/api/results/${result}` }) },
  'GET /api/results/{resultId}/receipt': {
    kind: 'public',
    ask: ({ result }) => ({ url: `/api/results/${result}/receipt` }),
  },
  'GET /api/graph/mermaid/{pollId}': { kind: 'public', ask: ({ result }) => ({ url: `/api/graph/mermaid/${result}` }) },
  'GET /api/feedback/{pollId}': { kind: 'public', ask: ({ result }) => ({ url: `/api/feedback/${result}` }) },
  'GET /result/{resultId}/card.png': {
    kind: 'public',
    ask: ({ result }) => ({ url: `/result/${result}/card.png` }),
  },
  'GET /result/{resultId}': { kind: 'public', ask: ({ result }) => ({ url: `/result/${result}` }) },
  'GET /guides/{guide}': { kind: 'catalogue' },
  'GET /guides/{guide}.md': { kind: 'catalogue' },
  'GET /result/{resultId}.md': { kind: 'public', ask: ({ result }) => ({ url: `/result/${result}.md` }) },
  // Of a paid poll, to its owner alone; its result is public when it has ended.
  'GET /result/{resultId}/events': {
    kind: 'own',
    by: ['cookie'],
    without: 404,
    ask: ({ result }) => ({ url: `/result/${result}/events` }),
  },
  'POST /result/{resultId}/feedback': { kind: 'public' },
  'GET /assets/{version}/{name}': { kind: 'catalogue' },
  'GET /errors/{code}': { kind: 'catalogue' },
  'GET /errors/{code}.md': { kind: 'catalogue' },
  'GET /v1/models/{model}': { kind: 'catalogue' },
  'GET /v1/models/{owner}/{name}': { kind: 'catalogue' },
  'GET /models/{model}': { kind: 'catalogue' },
  'GET /models/{model}.md': { kind: 'catalogue' },
  'GET /api/examples/{language}': { kind: 'catalogue' },
};
/** Take an id elsewhere than in their path. */
const ELSEWHERE = ['POST /api/poll', 'POST /api/quick-poll', 'POST /api/poll/stream', 'POST /api/a2a/tasks/send'];

const nameOf = ({ method, path }: Route) => `${method} ${path}`;

t.test('every route that takes an id says whose it is', async (t) => {
  const routes = (await routesOf(context)).map(nameOf);
  t.same(
    routes.filter((name) => name.includes('{') && !(name in ACCESS)),
    [],
    'say here who may use their ids',
  );
  t.same(
    ELSEWHERE.filter((name) => !routes.includes(name)),
    [],
  );
});

t.test(
  '[§3.3-revoke-foreign, §4.1-status-foreign-404, §2.4-no-cost] three people, three credentials, every id',
  async (t) => {
    const people = await Promise.all([person('ada'), person('bob'), person('cyd', true)]);
    let asked = 0;
    for (const [name, { kind, by = [], opens: good = 200, others = 404, without = 401, ask }] of Object.entries(
      ACCESS,
    )) {
      if (!ask) continue;
      const method = name.split(' ')[0] as 'GET' | 'POST' | 'PATCH' | 'DELETE';
      for (const owner of people) {
        for (const caller of people) {
          for (const credential of ['key', 'cookie', 'none'] as const) {
            const { headers, ...rest } = { headers: {}, ...(await ask(owner)) };
            const request = { method, ...rest, headers: { ...headers, ...caller.headers[credential] } };
            const { statusCode, body } = await app.inject(request);
            asked += 1;
            const what = `${name}: ${caller.name} by ${credential} asks for what is ${owner.name}'s`;
            const opens = by.includes(credential) && caller === owner;
            const due = kind === 'public' || opens ? good : by.includes(credential) ? others : without;
            if (statusCode !== due) t.fail(`${what}: ${statusCode} instead of ${due}: ${body.slice(0, 200)}`);
            const shown = opens || kind === 'public' ? people.filter((one) => one !== owner) : people;
            for (const { mark } of shown) if (body.includes(mark)) t.fail(`${what}: ${mark} is shown`);
            if (kind === 'public' && /estimated_cost|account_id|user_id/.test(body))
              t.fail(`${what}: shows what is private`);
          }
        }
      }
    }
    t.ok(asked >= 200, `${asked} requests`);
  },
);

t.test('ids in what a request says are no way round', async (t) => {
  const [ada, bob] = await Promise.all([person('ada'), person('bob')]);
  const call = (name: string, input: object) => rpc('tools/call', { name, arguments: input });
  for (const id of [ada.session, ada.result]) {
    const headers = { ...bob.headers.key, accept: 'application/json, text/event-stream' };
    const answer = await app.inject({
      method: 'POST',
      url: '/api/mcp',
      headers,
      payload: call('get_poll_result', { poll_id: id, result_id: id, id }),
    });
    t.notMatch(answer.body, id === ada.session ? ada.mark : /estimated_cost/, 'MCP');
  }
  // There are no sessions to take over: each message is its caller's, whatever session it names.
  const initialize = rpc('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  });
  const accept = 'application/json, text/event-stream';
  const begun = await app.inject({
    method: 'POST',
    url: '/api/mcp',
    headers: { ...ada.headers.key, accept },
    payload: initialize,
  });
  t.equal(begun.headers['mcp-session-id'], undefined);
  const hijacked = await app.inject({
    method: 'POST',
    url: '/api/mcp',
    headers: { accept, 'mcp-session-id': String(begun.headers['mcp-session-id'] ?? ada.session) },
    payload: call('get_balance', {}),
  });
  t.equal(hijacked.statusCode, 401);
  const keys = (await app.inject({ url: '/api/keys', headers: bob.headers.key })).body;
  t.notMatch(keys, ada.mark);
  for (const url of ['/api/results', '/api/results/recent']) {
    const { body } = await app.inject({ url: `${url}?account_id=x&user_id=x`, headers: bob.headers.cookie });
    t.notMatch(body, ada.result, url);
  }
});
