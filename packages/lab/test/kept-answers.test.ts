import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { callers } from '../src/faults/callers.ts';
import { type Kind, type RecordedOperation, recorder } from '../src/faults/operations.ts';
import { STORED } from '../src/faults/rules/poll-rules.ts';
import { chance } from '../src/terminal/chance.ts';
import { ELECTION, honestHistory } from './honest-history.ts';

// What callers keep of a gateway's answers, by which the rules judge it.

/** A caller's operation, and the bodies that it sent; nothing of it is canceled, repeated or slow. */
async function asked(t: Test, kind: Kind, answers: Record<string, [status: number, body: string]>) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      body += piece;
    });
    request.on('end', () => {
      if (request.method === 'POST') bodies.push(body);
      const [status, text] = answers[`${request.method} ${request.url}`] ?? [404, '{"code":"not_found"}'];
      response.writeHead(status).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const record = recorder(null);
  const call = callers({
    recorder: record,
    gateways: [{ name: 'g1', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }],
    accounts: [{ id: 'a', key: 'k', cookie: '' }],
    chance: { ...chance('kept answers'), happens: () => false, whole: () => 2, between: () => 0 },
    quit: new AbortController().signal,
    herd: 1,
    promised: null,
  });
  await call(kind);
  return { operation: record.operations[0] as RecordedOperation, bodies };
}

t.test('of each row of a batch its poll is kept, also that a result names none', async (t) => {
  const lines = [
    { custom_id: 'row 1', session_id: 'p1', result: ELECTION },
    { custom_id: 'row 2', session_id: null, result: null },
    { custom_id: 'row 3', session_id: null, result: ELECTION },
  ];
  const { operation, bodies } = await asked(t, 'batch', {
    'POST /api/batches': [202, '{"batch_id":"pb1"}'],
    'GET /api/batches/pb1': [200, '{"status":"completed"}'],
    'GET /api/batches/pb1/results': [200, lines.map((line) => JSON.stringify(line)).join('\n')],
  });
  t.equal(operation.outcome, 'ok');
  const { requests } = JSON.parse(bodies[0]!) as { requests: { custom_id: string }[] };
  t.same(
    requests.map(({ custom_id }) => custom_id),
    ['row 1', 'row 2'],
    'named by their lines',
  );
  t.same(
    [...operation.rows!.polls],
    [
      ['row 1', 'p1'],
      ['row 3', 'null'],
    ],
  );
  t.same(operation.answers.get('p1'), ELECTION);
});

t.test('of a short answer its poll is kept, and one that names none is found', async (t) => {
  for (const kind of ['quick', 'free'] as const) {
    const short = { answer: 'b', status: 'partial', options: ['a', 'b'] };
    const answered = async (body: object) => {
      const { operation } = await asked(t, kind, { 'POST /api/quick-poll': [200, JSON.stringify(body)] });
      return { operation, broken: STORED.broken({ ...honestHistory, operations: [operation] }) };
    };
    const named = await answered({ ...short, poll_id: 'EP-p1' });
    t.same(named.broken, []);
    t.same([...named.operation.answers], [['EP-p1', { status: 'partial', options: ['a', 'b'], winner: 'b' }]]);
    const unnamed = await answered(short);
    t.equal(unnamed.broken.length, 1);
    t.equal(unnamed.operation.answers.size, 0);
  }
});
