import { Type } from '@sinclair/typebox';
import { beginDeletion, missingProblems } from '../day-user.ts';
import { type Activity, anyPerson } from '../world.ts';

// What people and programs read: pages, documents, lists, figures, receipts.

const PAGES = [
  ...['/', '/?view=human', '/playground', '/models', '/trust', '/pricing', '/connect', '/surfaces', '/api/docs'],
  ...['/guides/first-poll', '/guides/many-polls', '/guides/reading-results'],
];
const DASHBOARD = [
  '/dashboard',
  '/dashboard/polls',
  '/dashboard/batches',
  '/dashboard/usage',
  '/dashboard/keys',
  '/dashboard/webhooks',
];
const DOCUMENTS = [
  ...['/api/health', '/api/openapi.json', '/asyncapi.json', '/llms.txt', '/robots.txt', '/sitemap.xml', '/api/models'],
  ...['/api/surfaces', '/api/errors/catalog', '/api/examples', '/api/reputation', '/api/reputation/models'],
  ...['/api/calibration', '/api/profiles', '/api/intents', '/.well-known/agent-card.json', '/.well-known/jwks.json'],
  ...['/v1/models', '/eloquentpoll.ts', '/api/poll/estimate?preset=fast&options=3', '/api/receipts/days'],
];

const PollPage = Type.Object({
  polls: Type.Array(Type.Object({ session_id: Type.String() })),
  after: Type.Union([Type.String(), Type.Null()]),
});
const Receipt = Type.Object({ payload: Type.String() });

export const openPage: Activity = async ({ call, chance, diary }) => {
  const page = await call({ way: 'page', path: chance.pick(PAGES), headers: { accept: 'text/html' } });
  if (page.isExpected) diary.judge('page', /<\/html>\s*$/.test(page.text) ? [] : ['a page is cut off']);
};

export const openDashboard: Activity = async (world) => {
  const [path, by] = [world.chance.pick(DASHBOARD), anyPerson(world)];
  const headers = { accept: 'text/html' };
  const page = await world.call({ way: 'dashboard', path, by, with: 'cookie', headers });
  if (page.isExpected)
    world.diary.judge('dashboard', page.text.includes('Sign out') ? [] : [`${path} is not of who is signed in`]);
};

export const readDocument: Activity = async ({ call, chance }) => {
  await call({ way: 'document', path: chance.pick(DOCUMENTS) });
};

export const readLists: Activity = async (world) => {
  const by = anyPerson(world);
  const path = world.chance.pick([
    '/api/polls?limit=20',
    '/api/polls?limit=50&status=completed',
    '/api/polls?close=true',
  ]);
  const first = await world.call({ way: 'list', path, by });
  if (!first.isExpected) return;
  const { polls, after } = first.read(PollPage);
  if (after === null) return;
  const next = await world.call({ way: 'list', path: `${path}&after=${encodeURIComponent(after)}`, by });
  if (!next.isExpected) return;
  const seen = new Set(polls.map(({ session_id }) => session_id));
  const twice = next.read(PollPage).polls.some(({ session_id }) => seen.has(session_id));
  world.diary.judge('list', twice ? ['a poll is on two pages'] : []);
};

export const lookAtUsage: Activity = async (world) => {
  const by = anyPerson(world);
  const group = world.chance.pick(['day', 'preset', 'key']);
  await world.call({ way: 'usage', path: `/api/usage?group_by=${group}`, by });
  await world.call({ way: 'usage', path: '/api/usage/balance', by });
  await world.call({ way: 'history', path: '/api/results?limit=20', by, with: 'cookie' });
};

export const exportAll: Activity = async (world) => {
  const by = anyPerson(world);
  const { isExpected, text } = await world.call({ way: 'export', path: '/api/export', by, mayBeCutOff: true });
  if (isExpected)
    world.diary.judge('export', text.startsWith('{"type":"account"') ? [] : ['it does not begin with the account']);
};

export const readReceipt: Activity = async (world) => {
  const by = anyPerson(world);
  const result = by.results.at(-1);
  if (!result) return;
  const path = `/api/results/${result.resultId}/receipt`;
  const { status, read } = await world.call({ way: 'receipt', path, by, expect: [200, 404] });
  if (status === 404) world.diary.judge('receipt', missingProblems(by, result.resultId, status));
  if (status !== 200) return;
  const statement = Buffer.from(read(Receipt).payload, 'base64url').toString();
  world.diary.judge('receipt', statement.includes(result.resultId) ? [] : ['it is about another result']);
};

export const giveFeedback: Activity = async (world) => {
  const by = anyPerson(world);
  const result = by.results.at(-1);
  if (!result) return;
  const body = { poll_id: result.resultId, outcome_correct: world.chance.happens(0.8) };
  const { status } = await world.call({ way: 'feedback', path: '/api/feedback', body, by, expect: [201, 404] });
  world.diary.judge('feedback', missingProblems(by, result.resultId, status));
};

export const deleteResult: Activity = async (world) => {
  const by = anyPerson(world);
  const [result] = by.results;
  if (!result) return;
  beginDeletion(by, [result.resultId]);
  const path = `/api/results/${result.resultId}`;
  const way = 'deletion';
  const { isExpected, status } = await world.call({ way, method: 'DELETE', path, by, expect: [200, 404] });
  // Missing is right only if an earlier request deleted it, such as one that deleted its batch.
  world.diary.judge(way, missingProblems(by, result.resultId, status, 1));
  if (isExpected) await world.call({ way: 'deletion', path, expect: [404] });
};
