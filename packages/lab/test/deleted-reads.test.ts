import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { erasures } from '../src/faults/erasures.ts';
import { type RecordedOperation, recorder } from '../src/faults/operations.ts';
import { deletionRules } from '../src/faults/rules/deletion-rules.ts';
import { listRules } from '../src/faults/rules/list-rules.ts';
import { chance } from '../src/terminal/chance.ts';
import { honestHistory } from './honest-history.ts';

// Callers who delete, against a gateway that revokes the key and forgets the rest, or not all of it.

const [POLL_RESULT, ROW_RESULT] = ['EP-of-the-poll', 'EP-of-the-row'];
const PUBLIC = new RegExp(`^/(api/results|api/graph/mermaid|result)/(${POLL_RESULT}|${ROW_RESULT})`);

/** As much of a gateway as a caller who deletes needs; what it forgets is up to the test. */
async function fakeGateway(forgets: (path: string) => boolean) {
  let deleted = false;
  const strangers: string[] = [];
  function answer({ method, url = '', headers }: IncomingMessage): [status: number, body: string] {
    const isPublic = PUBLIC.test(url);
    const isGone = deleted && forgets(url);
    if (method === 'DELETE') {
      deleted = true;
      return [200, '{}'];
    }
    if (isPublic) {
      if (!headers.authorization) strangers.push(url);
      return isGone ? [404, '{}'] : [200, '{}'];
    }
    if (/^\/api\/(polls|batches)\?/.test(url)) return [200, isGone ? '{"polls":[]}' : '{"polls":["p9","pb9"]}'];
    if (isGone) return [401, '{}'];
    if (method === 'POST' && url === '/api/polls') return [202, '{"session_id":"p9"}'];
    if (method === 'POST' && url === '/api/batches') return [202, '{"batch_id":"pb9"}'];
    if (url.endsWith('/results')) return [200, `{"result":{"poll_id":"${ROW_RESULT}"}}\n{"result":null}\n`];
    return [200, JSON.stringify({ status: 'completed', result_id: POLL_RESULT })];
  }
  const server = createServer((request, response) => {
    const [status, body] = answer(request);
    request.resume().on('end', () => response.writeHead(status).end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    strangers,
    gateway: { name: 'g1', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const MINUTE_MS = 60_000;

type What = 'poll' | 'batch' | 'account';

async function deletedAt(what: What, forgets: (path: string) => boolean) {
  await using fake = await fakeGateway(forgets);
  const record = recorder(null);
  // Its poll and batch have ended before it is deleted, and no wait is long.
  const sure = { ...chance('deleted reads'), happens: () => true, between: () => 0 };
  const account = { id: 'acc', key: 'key', cookie: 'login' };
  const lastReads: (() => Promise<void>)[] = [];
  const promised = {
    limitedKeys: new Map(),
    hookOf: () => ({ path: '/url/0', url: 'http://127.0.0.1:1/url/0' }),
    openAccount: async () => account,
    later: (read: () => Promise<void>) => {
      lastReads.push(read);
    },
  };
  const quit = new AbortController().signal;
  const erase = erasures({ recorder: record, gateways: [fake.gateway], chance: sure, quit, promised }, 0);
  await erase[what](account);
  const erased = record.operations[0] as RecordedOperation;
  const { reads } = erased.erasure!;
  const before = reads.length;
  for (const read of lastReads) await read();
  // The last ones come when the campaign is over.
  const later = reads.splice(before).map((read) => ({ ...read, at: read.at + MINUTE_MS }));
  reads.push(...later);
  const broken = [...deletionRules, ...listRules].flatMap(({ broken }) =>
    broken({ ...honestHistory, operations: record.operations }),
  );
  return { broken, strangers: fake.strangers, erased };
}

const RESULTS: Record<What, string[]> = {
  poll: [POLL_RESULT],
  batch: [ROW_RESULT],
  account: [POLL_RESULT, ROW_RESULT],
};

for (const [what, results] of Object.entries(RESULTS) as [What, string[]][]) {
  t.test(`a deleted ${what} whose results are gone breaks no rule, and each was read by a stranger`, async (t) => {
    const { broken, strangers, erased } = await deletedAt(what, () => true);
    t.same(broken, []);
    t.equal(erased.outcome, 'ok');
    const { before, after } = erased.erasure!.publicReads;
    t.same(new Set(before.map(({ status }) => status)), new Set([200]));
    t.same(new Set(after.map(({ status }) => status)), new Set([404]));
    for (const id of results)
      for (const path of [
        `/api/results/${id}`,
        `/api/results/${id}/receipt`,
        `/api/graph/mermaid/${id}`,
        `/result/${id}`,
      ])
        t.equal(strangers.filter((one) => one === path).length, 3, `${path} before, at once and later`);
  });

  for (const id of results)
    t.test(`a deleted ${what} whose ${id} is still served is found`, async (t) => {
      const { broken } = await deletedAt(what, (path) => path !== `/api/results/${id}`);
      t.equal(broken.length, 2, 'at once and later');
      t.ok(broken.every((one) => one.includes(`/api/results/${id} 200`)));
    });
}

t.test('a deleted account whose batch its key still reads is found', async (t) => {
  const { broken } = await deletedAt('account', (path) => path !== '/api/batches/pb9/report');
  t.equal(broken.length, 3, 'at once, later and at the end');
});

for (const path of ['/api/polls/p9/status', '/api/polls/p9/result'])
  t.test(`a deleted poll whose key still reads ${path} at the end of the campaign is found`, async (t) => {
    const { broken } = await deletedAt('poll', (one) => one !== path);
    t.equal(broken.length, 1, 'not before: a gateway keeps ends of runs for a minute');
    t.ok(broken[0]?.includes(`${path} 200`));
  });

for (const [what, list] of [
  ['poll', '/api/polls?'],
  ['batch', '/api/batches?'],
] as const)
  t.test(`a deleted ${what} that a list still shows is found`, async (t) => {
    const { broken, erased } = await deletedAt(what, (path) => !path.startsWith(list));
    t.match(erased.erasure!.lists.before, [{ shows: true }]);
    t.equal(broken.length, 5, 'at once, three times in between, and later');
    t.ok(broken.every((one) => one.includes(list)));
  });
