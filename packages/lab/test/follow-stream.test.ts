import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { callers } from '../src/faults/callers.ts';
import { type RecordedOperation, recorder } from '../src/faults/operations.ts';
import { chance } from '../src/terminal/chance.ts';

// What is kept of the answers of a gateway that answers as the test says, so that the rules can judge them.

type Answer = (response: ServerResponse) => void;

const event = (kind: string, id: string, data: object): string =>
  `id: ps_1:${id}\nevent: ${kind}\ndata: ${JSON.stringify({ seq: 0, session_id: 'ps_1', ...data })}\n\n`;

const streamed =
  (...events: string[]): Answer =>
  (response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.join(''));

const refused =
  (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ code }));

const STARTED = event('started', '0', {});
const COMPLETE = streamed(STARTED, event('complete', 'end', { winner: 'a' }));
const failed = (code: string) => streamed(STARTED, event('error', 'end', { code }));

/** One stream of a caller who gets these answers, the last of them again and again. */
async function streamOf(t: Test, ...answers: Answer[]): Promise<RecordedOperation> {
  const left = [...answers];
  const server = createServer((_request, response) => (left.length > 1 ? left.shift()! : left[0]!)(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const record = recorder(null);
  const { port } = server.address() as AddressInfo;
  const call = callers({
    recorder: record,
    gateways: [{ name: 'g1', url: `http://127.0.0.1:${port}` }],
    accounts: [{ id: 'a', key: 'k', cookie: '' }],
    chance: chance('no replay 1'),
    quit: new AbortController().signal,
    herd: 1,
    promised: null,
  });
  await call('stream');
  return record.operations[0]!;
}

const answersOf = ({ attempts }: RecordedOperation) => attempts.map(({ status, code }) => [status, code]);

t.test(
  'an error event is kept as what its code stands for, and the stream is asked for again or has failed',
  async (t) => {
    const again = await streamOf(t, failed('internal_error'), COMPLETE);
    t.same(answersOf(again).slice(0, 2), [
      [500, 'internal_error'],
      [200, null],
    ]);
    t.equal(again.outcome, 'ok');
    t.same(answersOf(await streamOf(t, failed('a_code_without_entry'), COMPLETE))[0], [500, 'a_code_without_entry']);
    for (const code of ['poll_failed', 'poll_canceled', 'budget_too_small']) {
      const operation = await streamOf(t, failed(code));
      t.same([answersOf(operation), operation.outcome], [[[422, code]], 'failed'], code);
    }
  },
);

t.test('a stream that ends early is kept as one that had begun', async (t) => {
  const operation = await streamOf(t, streamed(STARTED), COMPLETE);
  t.match(operation.attempts[0], {
    status: null,
    code: 'cut',
    opened: Number,
    method: 'POST',
    path: '/api/poll/stream',
  });
  const [refusal] = (await streamOf(t, refused(503, 'service_unavailable'), COMPLETE)).attempts;
  t.match(refusal, { status: 503, opened: null });
});

t.test('what comes after the last event is kept, too', async (t) => {
  const twice = streamed(
    STARTED,
    event('complete', 'end', { winner: 'a' }),
    event('error', 'end', { code: 'poll_failed' }),
  );
  const operation = await streamOf(t, twice);
  t.same(answersOf(operation)[0], [200, null], 'the first last event is the answer');
  t.same(
    operation.events.filter(({ attempt }) => attempt === 1).map(({ last }) => last),
    [false, true, true],
  );
});

t.test('what is refused is kept with the time to wait', async (t) => {
  const [later] = (await streamOf(t, refused(429, 'rate_limited', { 'retry-after': '7' }), COMPLETE)).attempts;
  t.match(later, { status: 429, code: 'rate_limited', retryAfterS: 7 });
  t.match(await streamOf(t, refused(401, 'invalid_api_key')), {
    outcome: 'failed',
    attempts: [{ status: 401, code: 'invalid_api_key', retryAfterS: null }],
  });
  t.match(await streamOf(t, refused(402, 'insufficient_balance')), { outcome: 'refused' });
});
