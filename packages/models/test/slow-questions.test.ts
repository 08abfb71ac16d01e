import t, { type Test } from 'tap';
import { openAsker, type VoteRequest } from '../src/ask.ts';
import { type Behaviour, json, misbehavingServer, silence, votes } from './misbehaving-server.ts';
import { testPanels } from './test-panels.ts';
import { MODEL, voteRequest } from './vote-request.ts';

// slow: 20 s

// A question can make a model write until its time is up. To the caller that looks like a provider that hangs.

const SLOW = 'Which is best? Write a long essay first.';

/** A model that answers everything but the slow question, a clock, and an asker. */
async function open(t: Test) {
  const server = await misbehavingServer(t);
  const clock = { now: 0 };
  // Long enough for several answers to others meanwhile.
  const timeouts = { connect_ms: 10_000, first_byte_ms: 1_000, idle_ms: 1_000, total_ms: 20_000 };
  const panels = testPanels(t, { one: server.url }, [], { timeouts });
  const asker = openAsker({ panels, random: () => 0.5, now: () => clock.now });
  t.teardown(() => asker[Symbol.asyncDispose]());
  const writes: Behaviour = (call, res) =>
    (call.body.messages[1]!.content.includes('essay') ? silence : votes())(call, res);
  server.behave(MODEL, writes);
  const ask = (accountId: string, more: Partial<VoteRequest> = {}) => asker.ask(voteRequest({ accountId, ...more }));
  const slow = (accountId: string) => ask(accountId, { question: SLOW });
  return { server, clock, ask, slow };
}

const times = <T>(n: number, act: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: n }, act));

t.test('slow questions of one account stop its own calls of a model, and no others', async (t) => {
  const { server, clock, ask, slow } = await open(t);
  for (const vote of await times(5, () => slow('a'))) t.match(vote, { error: 'timeout', calls: 1 });
  t.match(await slow('a'), { error: 'provider_error', calls: 0 }, 'not asked for this account');
  t.match(await ask('b'), { error: null, calls: 1 }, 'but for others');
  t.match(await ask('a'), { calls: 0 });

  for (let round = 0; round < 2; round += 1) {
    clock.now += 120_000;
    t.match(await slow('a'), { error: 'timeout', calls: 1 }, 'tested with one call after a rest');
    t.match(await ask('b'), { error: null, calls: 1 });
  }
  clock.now += 120_000;
  const calls = server.calls.length;
  t.match(await ask('a'), { error: null, calls: 1 }, 'closed by an answer');
  t.match(await ask('a'), { error: null, calls: 1 });
  t.equal(server.calls.length, calls + 2);
});

t.test('a model that hangs is soon not asked any more, also if one account alone is active', async (t) => {
  const { server, clock, ask } = await open(t);
  server.behave(MODEL, silence);
  for (const vote of await times(5, () => ask('a'))) t.match(vote, { error: 'timeout', cost: { fault_u: 0 } });
  for (const vote of await times(5, () => ask('a'))) t.match(vote, { error: 'provider_error', calls: 0 });
  clock.now += 5_000;
  server.behave(MODEL, silence, votes());
  t.match(await times(3, () => ask('a')).then((all) => all.map(({ calls }) => calls)), [1, 0, 0], 'one probe');
  clock.now += 10_000;
  t.match(await ask('a'), { error: null, calls: 1 });
  t.match(await ask('a'), { error: null, calls: 1 }, 'closed again');
});

t.test('a model that hangs for several accounts is asked for none', async (t) => {
  const { server, clock, ask } = await open(t);
  server.behave(MODEL, silence);
  await times(4, () => ask('a'));
  t.match(await times(2, () => ask('b')), [{ error: 'timeout' }, { error: 'timeout' }]);
  t.match(await ask('c'), { error: 'provider_error', calls: 0 });
  clock.now += 5_000;
  server.behave(MODEL, votes());
  t.match(await ask('c'), { error: null, calls: 1 });
  t.match(await ask('b'), { error: null, calls: 1 });
});

const text: Behaviour = (_, res) =>
  void res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');

for (const [what, behaviour] of [
  ['500', json({}, 500)],
  ['429', json({}, 429)],
  ['a page', text],
] as const)
  t.test(`so is one that answers ${what}, also if one account alone met it`, async (t) => {
    const { server, ask } = await open(t);
    server.behave(MODEL, behaviour);
    for (let i = 0; i < 5; i += 1) t.match(await ask('a'), { option: null, cost: { fault_u: 0 } });
    t.match(await ask('b'), { error: 'provider_error', calls: 0 });
  });

const free = { error: 'timeout', billed_u: 0, cost: { max_u: 50_000, fault_u: 0 } };
const charged = { error: 'timeout', billed_u: 0, cost: { max_u: 50_000, fault_u: 50_000 } };

/** A slow question, and meanwhile so many calls of another account. */
async function slowBeside(
  { server, ask, slow }: Awaited<ReturnType<typeof open>>,
  others: number,
  ...then: Behaviour[]
) {
  const before = server.calls.length;
  const asked = slow('a');
  await server.called(before + 1);
  if (then.length > 0) server.behave(MODEL, ...then);
  await times(others, () => ask('b'));
  return asked;
}

t.test('a timeout is charged to a question once it repeats while the model answers others', async (t) => {
  const scene = await open(t);
  t.match(await slowBeside(scene, 5), free, 'anyone may be unlucky once');
  t.match(await slowBeside(scene, 4), free, 'too few answers to others to be sure');
  t.match(await slowBeside(scene, 5), charged);
  t.match(await slowBeside(scene, 6, json({}, 404), votes()), free, 'in part of an outage too, it costs nothing');
});

for (const [answers, expected] of [
  [9, charged],
  [10, free],
] as const)
  t.test(
    `after ${answers} answers a timeout is ${expected === free ? 'the first again' : 'a repeated one'}`,
    async (t) => {
      const scene = await open(t);
      await times(5, () => scene.slow('a'));
      scene.clock.now += 5_000;
      for (let i = 0; i < answers; i += 1) t.match(await scene.ask('a'), { error: null });
      t.match(await slowBeside(scene, 5), expected);
    },
  );
