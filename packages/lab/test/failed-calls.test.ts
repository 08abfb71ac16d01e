import { sql } from 'kysely';
import t from 'tap';
import { wholeService } from './whole-service.ts';

// slow: 6 s

// Three of the five models of the fast panel refuse, so that two votes alone decide nothing and refusals are waited for. The
// account has nothing free: what each way of reading a poll says of its cost.

const REFUSING = { failures: [{ kind: 'refusal' as const, rate: 1 }] };
const MODELS = {
  'sim/acorn-mini': REFUSING,
  'sim/dune-quick': REFUSING,
  'sim/ember-8b': REFUSING,
  'sim/*': { voter: 'longest' as const },
};
const ORDER = {
  question: 'Which of these is the longest word?',
  options: ['sea', 'incomprehensibility'],
  preset: 'fast',
  confidence_threshold: 1,
};
const SETTINGS = { FREE_FAILURES_USD: '0', FREE_FAILURES_SHARE: '0' };

interface Costs {
  votes: { success: boolean; estimated_cost: number; error: string | null }[];
  costs: { total_estimated_cost: number; failed_calls_cost?: number };
}

const sum = (votes: Costs['votes']): number =>
  votes.reduce((total, vote) => total + Math.round(vote.estimated_cost * 1e6), 0);

t.test('a question that makes models fail beyond the allowance costs the same wherever the poll is read', async (t) => {
  const service = await wholeService(t, {}, { recordedVotes: null, models: MODELS }, SETTINGS);
  const { app, gateway, headers } = service;
  const ask = (url: string, payload: object) => app.inject({ method: 'POST', url, headers, payload });

  const sync = (await ask('/api/poll', ORDER)).json<Costs & { poll_id: string }>();
  const failed = sync.votes.filter(({ error }) => error === 'refusal');
  t.ok(failed.length >= 1 && failed.every((vote) => vote.estimated_cost > 0), 'failed votes say what they cost');
  t.equal(Math.round(sync.costs.total_estimated_cost * 1e6), sum(sync.votes), 'the total is that of the votes');
  t.equal(Math.round(sync.costs.failed_calls_cost! * 1e6), sum(failed));

  const { session_id } = (await ask('/api/polls', ORDER)).json<{ session_id: string }>();
  const waits = `/api/polls/${session_id}/result`;
  let read = await app.inject({ url: waits, headers });
  while (read.statusCode === 202) read = await app.inject({ url: waits, headers });
  t.ok(read.json<Costs>().costs.failed_calls_cost! > 0, 'read again from Postgres or from the announcement');

  const quick = (await ask('/api/quick-poll', { ...ORDER, confidence_threshold: undefined, theme: 'fast' })).json();
  t.ok((quick as { cost: number }).cost > 0);
  const shared = (await app.inject(`/api/results/${sync.poll_id}`)).body;
  t.notMatch(shared, 'failed_calls_cost', 'the public result has no costs');
  t.notMatch(shared, 'estimated_cost');
  const { rows } = await sql<{ captured: string; total: string }>`
    select (select sum(used_u) from balances)::text as captured, (select sum(total_cost_u) from results)::text as total`.execute(
    gateway.storage.db,
  );
  t.equal(rows[0]!.captured, rows[0]!.total, 'history and ledger agree');
});

t.test('providers hear the same pseudonym for all polls of an account, and another for another', async (t) => {
  const { app, gateway, headers, accountId } = await wholeService(t, {}, { recordedVotes: null });
  const ask = (with_: Record<string, string>, n: number) =>
    app.inject({
      method: 'POST',
      url: '/api/quick-poll',
      headers: with_,
      payload: { question: `Which of these is it, ${n}?`, options: ['A', 'B'] },
    });
  for (const [n, with_] of [headers, headers, {}].entries()) t.equal((await ask(with_, n)).statusCode, 200);
  const { rows } = await sql<{ caller: string }>`
    select spec ->> 'caller' as caller from polls order by created_at`.execute(gateway.storage.db);
  const [first, second, anonymous] = rows.map(({ caller }) => caller);
  t.equal(first, second);
  t.not(first, anonymous);
  t.match(first, /^[\w-]{32}$/);
  t.notMatch(first, accountId.slice(0, 8));
});
