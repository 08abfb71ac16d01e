import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { EXIT } from '../src/cli/exit-codes.ts';
import { run } from '../src/cli/run.ts';
import { pipes, screen, terminal } from './screen.ts';
import { type Answering, isBackoff, RESULT, serve, withoutWaiting } from './service.ts';

// `watch` with several polls, or with all that run.

const progress = { received: 2, succeeded: 2, failed: 0, total: 6 };
const PAGE = { has_more: false, before: null };

/** Polls ps_1, ps_2, ...: each ends after as many looks at the statuses as its number says. */
const polls: Answering = ({ path }, response, nth) => {
  const { pathname, searchParams } = new URL(path, 'http://x');
  if (pathname === '/api/polls') {
    const after = searchParams.get('after') === null ? 'ps_2' : null;
    return { ...PAGE, after, polls: [{ session_id: after === null ? 'ps_1' : 'ps_2' }] };
  }
  if (pathname === '/api/polls/status') {
    const ids = (searchParams.get('ids') ?? '').split(',');
    const status = (id: string) => (nth > Number(id.slice(3)) + 2 ? 'completed' : 'running');
    const known = ids.filter((id) => id !== 'ps_none');
    const found = known.map((session_id) => ({ session_id, status: status(session_id), result_id: null, progress }));
    return { polls: found, not_found: ids.filter((id) => id === 'ps_none') };
  }
  const [, id, what] = /^\/api\/polls\/(\w+)\/(\w+)$/.exec(pathname) ?? [];
  if (id === undefined) return RESULT;
  if (what === 'status') return { session_id: id, status: 'completed', result_id: 'EP-1' };
  if (id === 'ps_4') return canceled(response);
  if (id !== 'ps_3') return { ...RESULT, poll_id: `EP-${id}`, status: id === 'ps_2' ? 'partial' : 'success' };
  response.statusCode = 422;
  return { error: 'Poll failed', code: 'poll_failed' };
};

function canceled(response: ServerResponse): object {
  response.statusCode = 422;
  return { error: 'The poll was canceled before any model had voted.', code: 'poll_canceled' };
}

async function watched(t: Test, argv: string[], out?: ReturnType<typeof screen>) {
  withoutWaiting(t, (ms) => ms === 800);
  const { url } = await serve(t, polls);
  const { texts, ...outputs } = pipes();
  const env = { EP_URL: url, EP_KEY: 'ep_k_x' };
  const exit = await run(['watch', ...argv], terminal({ ...outputs, ...(out && { out: out.out }), env }));
  return { exit, ...texts };
}

t.test('several polls are followed to their ends, and the gravest is the exit code', async (t) => {
  const { exit, out } = await watched(t, ['ps_2', 'ps_1', 'EP-old']);
  t.match(out, /^EP-2026-\S+ {2}The Sun: 2 of 3, stopped early {2}\(threshold reached.*\nEP-ps_1 .*\nEP-ps_2 .*\n$/);
  t.equal(exit, EXIT.partial);
  const failed = await watched(t, ['ps_3', 'ps_1']);
  t.equal(failed.exit, EXIT.undecided);
  t.match(failed.out, 'ps_3  Poll failed\n');
});

t.test('a poll that was canceled without a vote does not end the watch of the others', async (t) => {
  const { exit, out, err } = await watched(t, ['ps_1', 'ps_4', 'ps_2']);
  t.match(out, /EP-ps_1 /);
  t.match(out, /EP-ps_2 /);
  t.match(out, 'ps_4  The poll was canceled before any model had voted.\n');
  t.equal(exit, EXIT.undecided);
  t.equal(err, '');
});

t.test('without an id all that run are followed; --json has one line for each', async (t) => {
  const { exit, out } = await watched(t, ['--json']);
  const lines = out.trim().split('\n');
  t.same(
    lines.map((line) => JSON.parse(line).poll_id),
    ['EP-ps_1', 'EP-ps_2'],
  );
  t.equal(exit, EXIT.partial);
});

t.test('a terminal shows how far each is, and then what is left is the results', async (t) => {
  const drawn = screen(100);
  await watched(t, ['ps_1', 'ps_2'], drawn);
  t.match(drawn.written.join(''), /ps_2 +2 of 6 models/);
  t.match(drawn.text(), /^EP-ps_1 .*\nEP-ps_2 .*\n$/);
});

t.test('an unknown poll is said by its id', async (t) => {
  const { exit, err } = await watched(t, ['ps_none', 'ps_1']);
  t.equal(exit, EXIT.usage);
  t.equal(err, 'eloquentpoll: ps_none is not one of your polls.\n');
});

t.test('a service that is away while several polls are followed is waited for', async (t) => {
  withoutWaiting(t, (ms) => ms === 800 || (isBackoff(ms) && ms < 31_000));
  const { url } = await serve(t, (asked, response, nth) => {
    if (nth === 1 || nth > 10) return polls(asked, response, nth);
    if (nth % 2 === 0) return void response.socket?.destroy();
    response.statusCode = 503;
    return { error: 'Away', code: 'service_unavailable', retryable: true };
  });
  const { texts, ...outputs } = pipes();
  const env = { EP_URL: url, EP_KEY: 'ep_k_x' };
  t.equal(await run(['watch', 'ps_1', 'ps_2'], terminal({ ...outputs, env })), EXIT.partial, texts.err);
  t.match(texts.out, /EP-ps_1 .*\nEP-ps_2 .*\n$/);
});

t.test('a key that ends while several polls are followed leaves the way to go on', async (t) => {
  const { url } = await serve(t, (asked, response, nth) => {
    if (nth === 1) return polls(asked, response, 1);
    response.statusCode = 401;
    return { error: 'Wrong key', code: 'invalid_api_key', retryable: false };
  });
  const { texts, ...outputs } = pipes();
  const env = { EP_URL: url, EP_KEY: 'ep_k_x' };
  t.equal(await run(['watch', 'ps_1', 'ps_2'], terminal({ ...outputs, env })), EXIT.refused);
  t.match(texts.err, '2 polls still running. To follow:\n  eloquentpoll watch ps_1 ps_2\n');
});

t.test('Ctrl-C says how to go on', async (t) => {
  const enough = new AbortController();
  const { url } = await serve(t, (asked, response) => {
    enough.abort();
    return polls(asked, response, 1);
  });
  const { texts, ...outputs } = pipes();
  const env = { EP_URL: url, EP_KEY: 'ep_k_x' };
  t.equal(await run(['watch', 'ps_1', 'ps_2'], terminal({ ...outputs, env, signal: enough.signal })), EXIT.interrupted);
  t.match(texts.err, '2 polls still running. To follow:\n  eloquentpoll watch ps_1 ps_2\n');
});
