import { readJson } from '@eloquentpoll/services/json';
import { Type } from '@sinclair/typebox';
import fc from 'fast-check';
import type { Finding, Setting } from './fuzz-operations.ts';
import { QUESTION_MARK } from './good-values.ts';
import { type Judge, judgeOf } from './judge-answer.ts';
import type { FuzzAnswer } from './send-request.ts';

// Requests that build on each other, in any order: keys are made, used, revoked and used again; polls are asked, waited
// for, judged, and looked at by strangers. A model of a few lines says what each step must answer.

interface Model {
  keys: { active: boolean }[];
  polls: { ended: boolean }[];
}

interface Real {
  readonly keys: { id: string; key: string }[];
  readonly polls: { session: string; result: string }[];
  ask(
    who: 'owner' | 'stranger' | { key: string },
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<FuzzAnswer>;
}

const JsonBody = Type.Record(Type.String(), Type.Unknown());
const LastEvent = Type.Object({ session_id: Type.String(), poll_id: Type.String() });

type Step = fc.AsyncCommand<Model, Real>;

const expect = (answer: FuzzAnswer, ...statuses: number[]): FuzzAnswer => {
  if (!statuses.includes(answer.status))
    throw new Error(`${statuses.join(' or ')} was due, not ${answer.status}: ${answer.text.slice(0, 200)}`);
  return answer;
};

const json = ({ text }: FuzzAnswer): Record<string, unknown> => readJson(JsonBody, text);

const step = (
  name: string,
  may: (model: Model) => boolean,
  run: (model: Model, real: Real) => Promise<unknown>,
): Step => ({
  check: may,
  run: async (model, real) => void (await run(model, real)),
  toString: () => name,
});

/** The element that a number points to, whatever the length of the list. */
const at = <T>(list: readonly T[], index: number): T => list[index % list.length]!;

const makeKey = step(
  'make a key',
  ({ keys }) => keys.length < 8,
  async (model, real) => {
    const made = json(expect(await real.ask('owner', 'POST', '/api/keys', { label: 'x' }), 201));
    real.keys.push({ id: String(made.id), key: String(made.key) });
    model.keys.push({ active: true });
  },
);

const useKey = (index: number) =>
  step(
    `use key ${index}`,
    ({ keys }) => keys.length > 0,
    async ({ keys }, real) =>
      expect(await real.ask(at(real.keys, index), 'GET', '/api/keys'), at(keys, index).active ? 200 : 401),
  );

const revokeKey = (index: number) =>
  step(
    `revoke key ${index}`,
    ({ keys }) => keys.length > 0,
    async ({ keys }, real) => {
      expect(
        await real.ask('owner', 'DELETE', `/api/keys/${at(real.keys, index).id}`),
        at(keys, index).active ? 200 : 404,
      );
      at(keys, index).active = false;
    },
  );

const revokeForeignKey = (index: number) =>
  step(
    `a stranger revokes key ${index}`,
    ({ keys }) => keys.length > 0,
    async (_, real) => expect(await real.ask('stranger', 'DELETE', `/api/keys/${at(real.keys, index).id}`), 404),
  );

const ORDER = {
  question: `Which of these is the better one? ${QUESTION_MARK}`,
  options: ['A', 'B', 'C'],
  preset: 'fast',
};

const askPoll = step(
  'ask a poll',
  ({ polls }) => polls.length < 5,
  async (model, real) => {
    const made = json(expect(await real.ask('owner', 'POST', '/api/polls', ORDER), 202));
    real.polls.push({ session: String(made.session_id), result: '' });
    model.polls.push({ ended: false });
  },
);

const askStream = step(
  'stream a poll',
  ({ polls }) => polls.length < 5,
  async (model, real) => {
    const { text } = expect(await real.ask('owner', 'POST', '/api/poll/stream', ORDER), 200);
    const last = readJson(
      LastEvent,
      text
        .split('\n')
        .findLast((line) => line.startsWith('data:'))!
        .slice(5),
    );
    real.polls.push({ session: last.session_id, result: last.poll_id });
    model.polls.push({ ended: true });
  },
);

const awaitPoll = (index: number) =>
  step(
    `await poll ${index}`,
    ({ polls }) => polls.length > 0,
    async ({ polls }, real) => {
      const poll = at(real.polls, index);
      const status = json(
        expect(
          await real.ask('owner', 'GET', `/api/polls/${poll.session}/status`, undefined, { prefer: 'wait=30' }),
          200,
        ),
      );
      if (status.status !== 'completed') throw new Error(`the poll is ${status.status}`);
      poll.result = String(status.result_id);
      at(polls, index).ended = true;
    },
  );

const readResult = (index: number) =>
  step(
    `read result ${index}`,
    ({ polls }) => polls.some(({ ended }) => ended),
    async ({ polls }, real) => {
      const ended = real.polls.filter((_, i) => polls[i]?.ended);
      const { session, result } = at(ended, index);
      const own = json(expect(await real.ask('owner', 'GET', `/api/polls/${session}/result`), 200));
      const open = expect(await real.ask('stranger', 'GET', `/api/results/${result}`), 200);
      if (own.poll_id !== result || json(open).winning_option !== own.winning_option)
        throw new Error('two readings of one result differ');
      if (/estimated_cost|costs|account|user_id|email/.test(Object.keys(json(open)).join()))
        throw new Error('a public result shows what is private');
    },
  );

const giveFeedback = (index: number) =>
  step(
    `judge ${index}`,
    ({ polls }) => polls.some(({ ended }) => ended),
    async ({ polls }, real) => {
      const { result } = at(
        real.polls.filter((_, i) => polls[i]?.ended),
        index,
      );
      expect(await real.ask('owner', 'POST', '/api/feedback', { poll_id: result, outcome_correct: true }), 201);
      if (Number(json(expect(await real.ask('stranger', 'GET', `/api/feedback/${result}`), 200)).total_feedback) !== 1)
        throw new Error('one voice counts once');
    },
  );

const intrude = (index: number) =>
  step(
    `a stranger looks at poll ${index}`,
    ({ polls }) => polls.length > 0,
    async (_, real) => {
      const { session } = at(real.polls, index);
      for (const [method, path, body, headers] of [
        ['GET', `/api/polls/${session}/status`],
        ['GET', `/api/polls/${session}/result`],
        ['POST', '/api/poll/stream', ORDER, { 'last-event-id': `${session}:0` }],
        ['POST', '/api/a2a/tasks/send', { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: session } }],
      ] as const) {
        expect(await real.ask('stranger', method, path, body, headers), 404);
      }
    },
  );

const index = fc.nat(7);
const steps = [
  fc.constant(makeKey),
  index.map(useKey),
  index.map(revokeKey),
  index.map(revokeForeignKey),
  fc.constant(askPoll),
  fc.constant(askStream),
  index.map(awaitPoll),
  index.map(readResult),
  index.map(giveFeedback),
  index.map(intrude),
];

export interface Sequences {
  readonly sequences: number;
  readonly requests: number;
  readonly findings: readonly Finding[];
}

export async function fuzzSequences(setting: Setting, seed: number, runs: number): Promise<Sequences> {
  const judge: Judge = judgeOf(setting.description, setting.watch.inAnswer);
  let requests = 0;
  async function ask(...[who, method, path, body, more]: Parameters<Real['ask']>): Promise<FuzzAnswer> {
    requests += 1;
    const { people } = setting;
    const credential =
      typeof who === 'object'
        ? { authorization: `Bearer ${who.key}` }
        : await people.credential(who === 'owner' ? 'key' : 'key of another');
    const headers = { ...credential, ...(body && { 'content-type': 'application/json' }), ...more };
    const sent = { method, target: path, headers, body: body ? Buffer.from(JSON.stringify(body)) : null };
    const answer = await setting.sender.send(sent);
    const problem = judge(sent, answer);
    if (problem) throw new Error(`${method} ${path}: ${problem}`);
    return answer;
  }
  const property = fc.asyncProperty(fc.commands(steps, { maxCommands: 60, size: 'max' }), (commands) =>
    fc.asyncModelRun(() => ({ model: { keys: [], polls: [] }, real: { keys: [], polls: [], ask } }), commands),
  );
  const checked = await fc.check(property, { seed, numRuns: runs });
  const error = checked.errorInstance;
  const findings = checked.failed
    ? [
        {
          where: 'a sequence',
          problem: String(error instanceof Error ? error.message : error),
          reproduction: String(checked.counterexample),
        },
      ]
    : [];
  return { sequences: checked.numRuns, requests, findings };
}
