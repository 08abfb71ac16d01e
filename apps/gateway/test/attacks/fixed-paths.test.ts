import t from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { build } from '../fixtures/build.ts';
import { times } from './full-scale.ts';

// slow: 3 s

// Documents are found by their whole path in a fixed list; no path leads anywhere else, however it is spelled.

const { app } = await build(t, { rateLimits: readPolicies('read=1000000/60') });
const SKILL = 'skills/prevent-hallucinations-with-a-quick-poll/SKILL.md';
const PREFIXES = [
  '/.cursor/',
  '/.claude/',
  '/.codex/',
  '/.agents/',
  '/~/.cursor/',
  '/%7E/.claude/',
  '/~/',
  '/%7E/',
  '/api/examples/',
  '/.well-known/',
  '/.well-known/agent-skills/',
  '/errors/',
  '/',
];
const ESCAPES = [
  '..',
  '.',
  '%2e%2e',
  '%2E%2E',
  '%252e%252e',
  '..%2f',
  '..%5c',
  '%c0%ae%c0%ae',
  '%e0%80%ae',
  '..;',
  '....//',
  '%00',
  '%7e',
  '~root',
  '...',
  '..%00',
  '.%00.',
  '%u002e%u002e',
];
const TARGETS = ['etc/passwd', 'package.json', 'src/app.ts', '.env', '.git/config', SKILL, 'proc/self/environ'];

t.test('no spelling of a path leaves the list', async (t) => {
  const documents = new Set<string>();
  for (const path of [`/.cursor/${SKILL}`, '/~/AGENTS.md', '/api/examples/curl', '/'])
    documents.add((await app.inject({ url: path })).body);
  let asked = 0;
  for (const prefix of PREFIXES) {
    for (const up of ESCAPES) {
      for (const target of TARGETS.slice(0, times(1, 7))) {
        for (const url of [
          `${prefix}${up}/${target}`,
          `${prefix}${up}/${up}/${up}/${target}`,
          `${prefix}x/${up}/${target}`,
        ]) {
          const { statusCode, body } = await app.inject({ url });
          asked += 1;
          // What a client library makes a known path of before it sends it is that path.
          const isKnown = statusCode === 200 && documents.has(body);
          if (![400, 404, 414].includes(statusCode) && !isKnown) t.fail(`${url}: ${statusCode}`);
          if (/root:|"dependencies"|DATABASE_URL|import \{/.test(body) && !isKnown) t.fail(`${url} shows a file`);
        }
      }
    }
  }
  t.ok(asked > 600);
});
