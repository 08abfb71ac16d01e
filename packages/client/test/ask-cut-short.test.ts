import t from 'tap';
import { EXIT } from '../src/cli/exit-codes.ts';
import { refusedWith, usedOffline } from './offline.ts';
import { isBackoff, sse, started, withoutWaiting } from './service.ts';

// A poll that is asked for, and whose answer does not come.

const ASK = ['ask', 'Which is larger? [The Sun, The Moon]'];

t.test('a poll that is interrupted before its first event is found by its key', async (t) => {
  const interrupted = (...more: string[]) => {
    const enough = new AbortController();
    const answer = () => {
      enough.abort();
      throw enough.signal.reason;
    };
    return usedOffline(t, [...ASK, ...more], answer, { signal: enough.signal });
  };
  const people = await interrupted();
  t.equal(people.exit, EXIT.interrupted);
  t.match(people.err, /^The poll may have been created and charged\. .*\n {2}eloquentpoll polls\n/);
  t.match(people.err, `repeat the command with --idempotency-key ${people.sent[0]}\n`);
  const programs = await interrupted('--json');
  t.equal(programs.exit, EXIT.interrupted);
  t.same(JSON.parse(programs.err), {
    error: 'The command was interrupted.',
    code: 'interrupted',
    idempotency_key: programs.sent[0],
  });
  const before = new AbortController();
  before.abort();
  const unsent = await usedOffline(t, [...ASK, '--json'], () => refusedWith(500, 'x'), { signal: before.signal });
  t.same(unsent.sent, []);
  t.notMatch(unsent.err, 'idempotency_key', 'nothing was sent');
});

t.test('a poll that the service may have made, and did not, can be asked again', async (t) => {
  withoutWaiting(t, (ms) => isBackoff(ms) || ms === 60_000);
  const mayBe = (path: string) =>
    path.startsWith('/api/polls/ps_1/')
      ? refusedWith(404, 'session_not_found')
      : refusedWith(503, 'service_unavailable', { session_id: 'ps_1', retryable: true });
  const people = await usedOffline(t, ASK, mayBe);
  t.equal(people.exit, EXIT.unavailable, 'not wrong input');
  t.equal(
    people.err,
    'The poll may have been created. Waiting for its result.\neloquentpoll: No poll was made, and nothing was charged.\n',
  );
  const programs = await usedOffline(t, [...ASK, '--json'], mayBe);
  const said = JSON.parse(programs.err);
  t.match(said, { code: 'service_unavailable', retryable: true, idempotency_key: programs.sent[0] });
  t.notOk('session_id' in said);
  const deleted = await usedOffline(t, [...ASK, '--json'], (path, nth) =>
    nth === 1
      ? new Response(sse('started', started(0)), { headers: { 'content-type': 'text/event-stream' } })
      : mayBe(path),
  );
  t.match(JSON.parse(deleted.err), { code: 'session_not_found' }, 'a poll that was seen was made');
});

t.test('a poll whose result cannot be read, or not be shown, is named', async (t) => {
  withoutWaiting(t, (ms) => isBackoff(ms) || ms === 60_000);
  const argv = [...ASK, '--json'];
  const revoked = await usedOffline(t, argv, (path) =>
    path.startsWith('/api/polls/ps_1/')
      ? refusedWith(401, 'invalid_api_key')
      : refusedWith(503, 'service_unavailable', { session_id: 'ps_1', retryable: true }),
  );
  t.equal(revoked.exit, EXIT.refused);
  t.match(JSON.parse(revoked.err), { code: 'invalid_api_key', session_id: 'ps_1', idempotency_key: revoked.sent[0] });
  const shapeless = () =>
    new Response('event: started\ndata: {"seq":0,"session_id":"ps_1"}\n\n', {
      headers: { 'content-type': 'text/event-stream' },
    });
  const programs = await usedOffline(t, argv, shapeless);
  t.equal(programs.exit, EXIT.defect);
  t.match(JSON.parse(programs.err), { code: 'defect', session_id: 'ps_1' });
  t.match((await usedOffline(t, ASK, shapeless)).err, /\nThe poll was created: eloquentpoll watch ps_1\n$/);
});
