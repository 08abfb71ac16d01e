import { join } from 'node:path';
import t from 'tap';
import { run } from '../src/cli/run.ts';
import { pipes, screen, terminal } from './screen.ts';
import { type Answering, batch, batchResult, jsonLines, RESULT, serve, started, withoutWaiting } from './service.ts';

// A service that puts what a terminal obeys into every text, ids and dates included.

const BELL = '\u0007';
const TITLE = `\u001b]0;x${BELL}\u009b31m\r`;
/** What commands decide by has to stay as it is. */
const DECIDES = new Set(['status', 'event', 'kind', 'termination_reason', 'limit_reset', 'ended_at', 'revoked_at']);

function spoiled<T>(value: T, name = ''): T {
  if (typeof value === 'string') return (DECIDES.has(name) ? value : `${value}${TITLE}`) as T;
  if (Array.isArray(value)) return value.map((one) => spoiled(one)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, spoiled(one, key)])) as T;
}

const POLL = {
  ...{ session_id: 'ps_1', status: 'completed', result_id: 'EP-1', question: 'Which?', preset: 'broad' },
  ...{ metadata: { a: 'b' }, winning_option: 'A', is_tie: false, is_close: false, cost_usd: 1, created_at: '2026-11' },
};
const KEY = {
  ...{ id: 'k', key: 'ep_k_x', key_prefix: 'ep_k_x', label: 'laptop', expires_at: '2027', read_only: false },
  ...{ limit_usd: null, limit_reset: 'never', spent_usd: null, spent_month_usd: 0, last_used_at: '2026-11-20' },
  ...{ revoked_at: null, created_at: '2026-11-20' },
};
const FIGURES = {
  polls: 1,
  failed: 0,
  split_or_partial: 0,
  cost_usd: 1,
  saved_usd: 1,
  median_ms: 1,
  median_cost_usd: 1,
};
const USAGE = {
  ...{ from: '2026-11-01', to: '2026-11-30', group_by: 'key', groups: [{ group: 'k', label: 'laptop', ...FIGURES }] },
  ...{ total: FIGURES, previous: { from: '2026-10-01', to: '2026-10-31', ...FIGURES } },
};
const BATCH = batch(1, 1, { has_gold: true, skipped: { count: 1, first: [{ line: 1, field: 'f', message: 'm' }] } });

const hostile: Answering = ({ method, path }, response) => {
  const { pathname } = new URL(path, 'http://x');
  const is = (what: RegExp) => what.test(pathname);
  if (is(/stream$/)) {
    const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(spoiled(data))}\n\n`;
    const ended = { seq: 2, session_id: 'ps_1', ...RESULT };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return void response.end(event('started', started(1)) + event('complete', ended));
  }
  if (is(/batches\/.*results$/)) return void response.end(jsonLines([spoiled(batchResult(1))]));
  if (is(/batches$/) && method === 'GET') return spoiled({ batches: [BATCH], has_more: true, after: 'pb_2' });
  if (is(/batches/)) return spoiled(BATCH);
  if (is(/polls\/status$/)) return { polls: [POLL, { ...POLL, session_id: 'ps_2' }], not_found: [] };
  if (is(/ps_\d\/(status|cancel)$/)) return spoiled(POLL);
  if (is(/polls$/)) return spoiled({ polls: [POLL], has_more: true, after: 'ps_2' });
  if (is(/keys$/)) return method === 'GET' ? spoiled([KEY]) : spoiled(KEY);
  if (is(/usage$/)) return spoiled(USAGE);
  return spoiled(RESULT);
};

t.test('no text of a service reaches a terminal as a command', async (t) => {
  const { url } = await serve(t, hostile);
  withoutWaiting(t, (ms) => ms === 800);
  const out = join(t.testdir(), 'results.jsonl');
  for (const argv of [
    ['ask', 'Which is larger? [The Sun, The Moon]'],
    ['result', 'EP-1'],
    ['watch', 'ps_1'],
    ['watch', 'ps_1', 'ps_2', 'EP-1'],
    ['polls'],
    ['batches'],
    ['batch', 'pb_1', '--out', out],
    ['watch', 'pb_1'],
    ['cancel', 'pb_1'],
    ['keys'],
    ['keys', 'create', 'laptop'],
    ['usage', '--by', 'key'],
  ]) {
    const { texts, ...outputs } = pipes();
    const env = { EP_URL: url, EP_KEY: 'ep_k_x', NO_COLOR: '1' };
    await run(argv, terminal({ ...outputs, env }));
    t.ok(texts.out + texts.err, argv.join(' '));
    t.notMatch(texts.out + texts.err, /[\p{Cc}--\n]/v, argv.join(' '));
    const drawn = screen();
    await run(argv, terminal({ out: drawn.out, env }));
    t.notMatch(drawn.written.join(''), new RegExp(BELL), `${argv.join(' ')} on a terminal`);
  }
});
