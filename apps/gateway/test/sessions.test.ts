import { findPoll } from '@eloquentpoll/storage';
import t from 'tap';
import { build } from './build.ts';
import { standInWorker } from './stand-in-worker.ts';

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };

t.test(
  '[§2.11-session-id, §3.2-create-202, §4.1-polls-202, §4.1-status-200, §4.1-result-202] a session begins at once and runs by itself',
  async (t) => {
    const { app, context, keyWith } = await build(t);
    const { bearer, accountId } = await keyWith(10);
    const begun = await app.inject({ method: 'POST', url: '/api/polls', headers: bearer, payload: POLL });
    t.equal(begun.statusCode, 202);
    const session = begun.json();
    t.match(session.session_id, /^ps_[0-9a-z]{24}$/);
    t.equal(begun.headers.location, session.status_url);
    t.same(session, {
      session_id: session.session_id,
      status: 'running',
      result_id: null,
      status_url: `https://polls.example/api/polls/${session.session_id}/status`,
      result_url: `https://polls.example/api/polls/${session.session_id}/result`,
    });
    t.equal((await findPoll(context.storage, session.session_id))?.accountId, accountId);

    const read = (what: string) => app.inject({ url: `/api/polls/${session.session_id}/${what}`, headers: bearer });
    const running = await read('status');
    t.same(
      [running.statusCode, running.json()],
      [200, { session_id: session.session_id, status: 'running', result_id: null }],
    );
    t.equal((await read('result')).statusCode, 202);

    await standInWorker(t, context);
    const ended = await app.inject({
      url: `/api/polls/${session.session_id}/status`,
      headers: { ...bearer, prefer: 'wait=30' },
    });
    t.match(ended.json(), { status: 'completed', result_id: /^EP-/ });
    t.equal(ended.headers['preference-applied'], 'wait=30');
    const result = await read('result');
    t.match(result.json(), { poll_id: ended.json().result_id, winning_option: 'A' });
  },
);
