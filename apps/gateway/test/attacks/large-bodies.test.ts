import t from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { build } from '../fixtures/build.ts';
import { fullScale } from './full-scale.ts';

// slow: 3 s

// The largest bodies that are read at all, made to be as much work as they can: each is answered in our words, and none
// keeps the process busy for so long that others would notice.

const KB = 1_024;
const MAX_CPU_MS = 50;

const filled = (start: string, unit: (i: number) => string, end: string): string => {
  const parts = [start];
  let length = start.length + end.length;
  for (let i = 0; length + unit(i).length < 64 * KB; i++) {
    parts.push(unit(i));
    length += unit(i).length;
  }
  return parts.join('') + end;
};

const BODIES: Record<string, string> = {
  'many members': filled('{"a":0', (i) => `,"m${i}":${i}`, '}'),
  'members of one name': filled('{"a":0', () => ',"a":0', '}'),
  'many options': filled('{"question":"Which of these is best?","options":["x"', (i) => `,"${i}"`, ']}'),
  'many options that are equal': filled('{"question":"Which of these is best?","options":["x"', () => ',"x"', ']}'),
  'ten long options': JSON.stringify({
    question: 'Which of these is best?',
    options: Array.from({ length: 10 }, (_, i) => `${i}${'ﷺ'.repeat(1_900)}`),
  }),
  'a long question': filled('{"options":["A","B"],"question":"', () => 'ﷺ\\u200b', '"}'),
  escapes: filled('{"question":"', () => '\\ud83d\\ude00', '"}'),
  'as deep as it goes': filled(`{"a":${'['.repeat(18)}`, () => '1,', `1${']'.repeat(18)}}`),
  deeper: '['.repeat(64 * KB),
  numbers: filled('{"max_cost_usd":[1', () => ',1e308', ']}'),
  'a long number': filled('{"max_cost_usd":0.', () => '123456789', '}'),
  'a group of a shorthand': filled('{"poll":"Which is best? [A', () => ',A', ']"}'),
  'text parts': filled(
    '{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"message":{"parts":[{}',
    () => ',{"text":"{}"}',
    ']}}}',
  ),
  'a batch': filled(
    '[{"jsonrpc":"2.0","id":1,"method":"ping"}',
    () => ',{"jsonrpc":"2.0","id":1,"method":"ping"}',
    ']',
  ),
  'a text to match': filled('{"text":"', () => 'ask a poll about ', '"}'),
};
const PATHS = [
  '/api/poll',
  '/api/polls',
  '/api/quick-poll',
  '/api/poll/dry-run',
  '/api/poll/stream',
  '/api/mcp',
  '/api/a2a/tasks/send',
  '/api/intents/match',
  '/api/feedback',
  '/api/wallet/verify',
  '/api/tools/list_surfaces',
  '/api/webhooks/stripe',
];

t.test('[§I2-body-64kb-413] large bodies are little work', async (t) => {
  const { app, keyWith } = await build(t, {
    rateLimits: readPolicies('poll=100000/60,read=100000/60,compute=100000/60'),
  });
  const { bearer } = await keyWith(0);
  const headers = { ...bearer, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  let most = { ms: 0, what: '' };
  // Warm up: modules that are loaded on first use would count as work of a body.
  for (const url of PATHS)
    for (let i = 0; i < 20; i++) await app.inject({ method: 'POST', url, headers, payload: '{"a":1}' });
  for (const url of PATHS) {
    for (const [name, payload] of Object.entries(BODIES)) {
      const what = `${url}: ${name}`;
      const before = process.cpuUsage();
      const { statusCode } = await app.inject({ method: 'POST', url, headers, payload });
      const { user, system } = process.cpuUsage(before);
      const ms = (user + system) / 1_000;
      if (ms > most.ms) most = { ms, what };
      t.ok(statusCode < 500 || statusCode === 503, `${what}: ${statusCode}`);
    }
  }
  t.comment(`at most ${most.ms.toFixed(0)} ms of CPU, for ${most.what}`);
  // CPU and not the clock, which a busy machine stretches; a collection of garbage may still fall on one of them.
  if (fullScale) t.ok(most.ms < MAX_CPU_MS, `${most.ms} ms for ${most.what}`);
});
