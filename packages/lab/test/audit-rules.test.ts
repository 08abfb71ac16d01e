import t from 'tap';
import type { AuditAttempt, AuditHistory, MadeAudit } from '../src/faults/audited.ts';
import type { CampaignHistory } from '../src/faults/history.ts';
import { auditCounts, auditRules } from '../src/faults/rules/audit-rules.ts';
import { callRules } from '../src/faults/rules/call-rules.ts';
import { optionDigest } from '../src/fixture/election.ts';
import { honestHistory, pollOf } from './honest-history.ts';

// Audits: one correct history, and lies for each rule. A poll was decided by two models, the third was asked afterwards, by
// two workers, the first of which died.

const MADE: MadeAudit = {
  ...{ pollId: 'p1', heard: 2, costU: 40n },
  votes: [
    { modelId: 'm0', option: 1 },
    { modelId: 'm1', option: null },
    { modelId: 'm2', option: 0 },
  ],
};
const FIRST: AuditAttempt = { pollId: 'p1', epoch: 1, heldU: 90n, posts: 1, voids: 0, postedU: 90n };
const SECOND: AuditAttempt = { ...FIRST, epoch: 2, postedU: 40n };
const AUDITS: AuditHistory = { drawn: ['p1'], made: [MADE], unmade: 0, waiting: [], attempts: [FIRST, SECOND] };
const asked = (option: string | null) => ({
  ...{ pollId: 'p1', seat: 2, attempt: 1, madeAt: 950, at: 950, costU: 40 },
  optionDigest: option === null ? null : optionDigest(option),
});
const HONEST: CampaignHistory = {
  ...honestHistory,
  polls: [pollOf('p1', { modelIds: ['m0', 'm1', 'm2'] })],
  calls: [...honestHistory.calls, asked(null), asked('a')],
  audits: AUDITS,
};

const [ONCE, VOTES, CHARGED, MOST] = auditRules.map(({ name }) => name) as [string, string, string, string];
const but = (more: Partial<AuditHistory>): Partial<CampaignHistory> => ({ audits: { ...AUDITS, ...more } });
const made = (more: Partial<MadeAudit>) => but({ made: [{ ...MADE, ...more }] });
const voted = (place: number, more: Partial<MadeAudit['votes'][number]>) =>
  made({ votes: MADE.votes.map((vote, i) => (i === place ? { ...vote, ...more } : vote)) });
const settled = (more: Partial<AuditAttempt>) => but({ attempts: [FIRST, { ...SECOND, ...more }] });

const LIES: [what: string, rules: string[], lie: Partial<CampaignHistory>][] = [
  ['an audit that still waits', [ONCE], but({ made: [], waiting: ['p1'] })],
  ['an audit that is missing', [ONCE], but({ made: [] })],
  ['one more that is missing than were given up', [ONCE], but({ drawn: ['p1', 'p2', 'p3'], unmade: 1 })],
  ['two audits of a poll', [ONCE], but({ made: [MADE, MADE] })],
  ['an audit of a poll that was not selected', [ONCE], but({ drawn: [] })],
  ['a model that voted twice', [VOTES], voted(2, { modelId: 'm0' })],
  ['a model that is not in the panel', [VOTES], voted(2, { modelId: 'm9' })],
  ['a vote that the poll had not heard', [VOTES], voted(0, { option: 0 })],
  ['a vote that its model did not give', [VOTES], voted(2, { option: 1 })],
  ['a vote of a model that was not asked', [VOTES], { calls: honestHistory.calls }],
  ['a vote of a model that gave none', [VOTES], { calls: [...honestHistory.calls, asked(null)] }],
  ['an audit of no poll', [VOTES], { polls: [] }],
  ['money that stays set aside', [CHARGED], but({ attempts: [{ ...FIRST, posts: 0, postedU: 0n }, SECOND] })],
  ['an attempt that is settled twice', [CHARGED], settled({ posts: 2 })],
  ['a charge above what was set aside', [CHARGED], settled({ heldU: 30n })],
  ['a charge that is not what the audit cost', [CHARGED], settled({ postedU: 41n })],
  [
    'calls for which no account was charged',
    [CHARGED],
    but({ attempts: [FIRST, { ...SECOND, heldU: 90n, posts: 0, voids: 1, postedU: 0n }] }),
  ],
];

const broken = (history: CampaignHistory): string[] =>
  auditRules.filter((rule) => rule.broken(history).length > 0).map(({ name }) => name);

t.test('a correct history breaks no rule, nor does one without audits', async (t) => {
  t.same(broken(HONEST), []);
  t.same(broken(honestHistory), []);
  t.same(broken({ ...HONEST, ...but({ drawn: ['p1', 'p2'], unmade: 1 }) }), [], 'one was given up');
  t.same(broken({ ...HONEST, ...made({ costU: 200n }) }), [CHARGED]);
  const capped = but({ made: [{ ...MADE, costU: 200n }], attempts: [FIRST, { ...SECOND, postedU: 90n }] });
  t.same(broken({ ...HONEST, ...capped }), [], 'the pool is charged at most what was set aside');
});

t.test('each lie breaks the rule that it is about, and no other', async (t) => {
  for (const [what, rules, lie] of LIES) t.same(broken({ ...HONEST, ...lie }), rules, what);
});

t.test('a service that audits hardly any poll shows nothing', async (t) => {
  const drawn = Array.from({ length: 100 }, (_, n) => `p${n}`);
  t.same(broken({ ...HONEST, ...but({ drawn, unmade: 99 }) }), [MOST]);
  t.same(broken({ ...HONEST, ...but({ drawn: drawn.slice(1), unmade: 99 }) }), [], 'too few to say');
});

t.test('an audit may ask a model again whose call its poll had aborted, once for each attempt', async (t) => {
  const [perClaim] = callRules;
  const calls = (times: number) => [...honestHistory.calls, ...Array.from({ length: times }, () => asked('a'))];
  t.same(perClaim!.broken({ ...HONEST, calls: calls(4) }), [], 'two claims and two attempts');
  t.same(perClaim!.broken({ ...HONEST, calls: calls(5) }), ['p1 seat 2 call 1 made 5 times, 4 claims']);
  t.same(perClaim!.broken({ ...HONEST, calls: calls(3), audits: null }), ['p1 seat 2 call 1 made 3 times, 2 claims']);
});

t.test('what was tried is counted', async (t) => {
  t.same(auditCounts(AUDITS), {
    'polls selected for an audit': 1,
    audits: 1,
    'audits that were given up': 0,
    'audits that another worker began again': 1,
  });
});
