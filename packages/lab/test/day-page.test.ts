import t from 'tap';
import { countsOfDay } from '../src/day/counts-of-day.ts';
import { dayPage, stoppedLines, wayLines } from '../src/day/day-page.ts';
import { Diary } from '../src/day/diary.ts';

// What is printed and kept of a day: the page, the tables, and the counts that are added up over runs.

const diary = new Diary();
for (const [status, ms] of [
  [200, 10],
  [429, 20],
  [200, 1_000],
] as const)
  diary.answered('sync poll', status, ms);
diary.answered('a page', 200, 5);
diary.judge('sync poll', []);
diary.judge('sync poll', ['the cost is 2, not 1']);
diary.refuse('sync poll: 429');
diary.heard(7, ['one in time']);

const day = {
  plan: {
    ...{ minutes: 120, load: 0.6, seed: 'x', people: { byWallet: 1, byLogin: 1 }, instances: 2 },
    ...{ sampleEveryMs: 500, scrapeEveryS: 15, browserEveryMs: 0 },
  },
  startedAt: new Date('2026-01-02T03:04:05Z'),
  diary,
  end: {
    ...{
      accounts: 2,
      chargedU: 9,
      running: 0,
      openHolds: 0,
      violations: ['drift'],
      deadlocks: 0,
      audits: 3,
      batches: 4,
      polls: 1_234,
    },
    webhooks: { received: 5, repeated: 1, expected: 6, missing: ['ps_1'] },
    stopped: [{ panel: 'broad', lane: 'standard', polls: 10, costU: 2_000_000, stoppedU: 500_000 }],
  },
};
const bounds = [
  { says: 'either | or', found: 'one\nof two', holds: false },
  { says: 'a bound', found: 'nothing', holds: true },
];

t.test('ways stand in the order of their names, with how often they were asked and what was answered', async (t) => {
  const [head, ...rows] = wayLines(day);
  t.match(head, /^way +requests +judged +p50 +p95 +p99 +answers$/);
  t.match(rows, [/^a page +1 +0 +5 +5 +5 +200: 1$/, /^sync poll +3 +2 +\d+ +\d+ +\d+ +200: 2, 429: 1$/]);
  t.match(stoppedLines(day)[1], /^broad +standard +10 +2\.0000 +0\.5000 +25\.0 %$/);
});

t.test('the page has each bound in a row of its own, and says which was broken', async (t) => {
  const page = dayPage({ day, bounds, command: 'npm run day', revision: null, versions: 'Prometheus 3' });
  t.match(page, '| **broken** | either \\| or | one of two |\n| held | a bound | nothing |\n');
  t.match(page, /2026-01-02 03:04 UTC, revision not committed, .*, Prometheus 3\n/);
  t.match(page, '4 requests, 1,234 polls, 4 batches, 3 audits, 5 webhooks, 2 accounts');
});

t.test('counts of a day are those of its diary and its end', async (t) => {
  const alarms = { rules: 1, fired: ['X'], pending: [], failing: [] };
  t.same(countsOfDay(day, alarms, bounds), {
    minutes: 120,
    requests: 4,
    'answers judged': 2,
    'answers wrong': 1,
    'refused for a moment': 1,
    'votes compared': 7,
    'votes not heard': 1,
    polls: 1_234,
    batches: 4,
    audits: 3,
    webhooks: 5,
    'webhooks missing': 1,
    'ledger violations': 1,
    'alarms fired': 1,
    'bounds broken': 1,
  });
});
