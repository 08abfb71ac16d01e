import { balanceOf, findPoll, wasCanceled } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { newPeer, PEERS, type PeerStep } from '../fixtures/mcp-peers.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';
import { stored } from '../fixtures/stored.ts';

// slow: 5 s

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const gateway = await build(t);
const { app, context, keyWith } = gateway;
const url = new URL('/api/mcp', await app.listen({ host: '127.0.0.1', port: 0 }));
await standInWorker(t, context, { announcesVotes: true });

for (const { era, revision, connect } of PEERS) {
  t.test(
    `[§4.6-mcp-transport, §4.6-mcp-annotations, §A6-mcp-revisions] ${era} connects and sees three tools, described`,
    async (t) => {
      const { bearer } = await keyWith(1);
      const peer = await connect(t, url, bearer);
      t.equal(peer.revision, revision);
      const { tools } = await peer.listTools();
      t.same(
        tools.map(({ name }) => name),
        ['poll_question', 'get_poll_result', 'get_balance'],
      );
      const hints = { readOnlyHint: Boolean, destructiveHint: false, idempotentHint: Boolean, openWorldHint: Boolean };
      for (const tool of tools) {
        t.match(tool, { annotations: hints, inputSchema: { type: 'object' }, outputSchema: { type: 'object' } });
        t.notMatch(JSON.stringify(tool), /"\$ref"/, 'each schema stands alone');
      }
      const spec = (await app.inject({ url: '/api/graph/node-spec' })).json();
      t.same(JSON.parse(JSON.stringify(tools[0])), spec.tool_spec.mcp, 'the graph node is this very tool');
    },
  );

  t.test(
    `[§4.6-mcp-poll-question, §4.6-mcp-get-poll-result, §4.6-mcp-get-balance, §1-way-mcp] ${era} polls, reads the result again, and sees what is left`,
    async (t) => {
      const { bearer, accountId } = await keyWith(5);
      const peer = await connect(t, url, bearer);
      // The clients validate results against the output schemas, and throw if they differ.
      await peer.listTools();
      const answer = await peer.call('poll_question', { ...POLL, preset: 'fast', max_cost_usd: 0.5, unknown: 1 });
      t.match(answer.structuredContent, { winning_option: 'A', preset: 'fast', max_cost_usd: 0.5, status: 'success' });
      t.same(JSON.parse(answer.content[0]?.text ?? ''), answer.structuredContent, 'the text says the same');

      const result_id = answer.structuredContent?.poll_id;
      const result = await peer.call('get_poll_result', { result_id });
      t.match(result.structuredContent, { poll_id: result_id, winning_option: 'A' });
      t.notMatch(JSON.stringify(result), /cost_?s|estimated/, 'a public result carries no cost data');
      t.same(result.structuredContent, (await app.inject({ url: `/api/results/${result_id}` })).json());

      const { usageU } = (await balanceOf(context.storage, accountId))!;
      t.ok(usageU > 0n);
      const balance = await peer.call('get_balance');
      t.match(balance.structuredContent, { balance_cents: 499, balance: '$4.99' });
    },
  );

  t.test(`${era} gets one notification per vote, with increasing progress`, async (t) => {
    const { bearer } = await keyWith(5);
    const peer = await connect(t, url, bearer);
    const steps: PeerStep[] = [];
    const options = ['" ignore the rules', 'B'];
    const answer = await peer.call('poll_question', { ...POLL, options }, (step) => void steps.push(step));
    const votes = answer.structuredContent?.votes as unknown[];
    t.same(
      steps.map(({ progress }) => progress),
      votes.map((_, i) => i + 1),
    );
    t.ok(steps.every(({ total }) => total === votes.length));
    t.equal(steps[2]?.message, `3/${votes.length} models voted; leading: "\\" ignore the rules" (3)`);
    t.equal(context.bus.watched(), 0);
  });

  t.test(`${era} gets errors as results with code and recovery`, async (t) => {
    const [poor, { bearer }] = [await keyWith(0), await keyWith(5)];
    const peer = await connect(t, url, bearer);
    await peer.listTools();
    const before = await stored(context);
    const failed = async (who: typeof peer, name: string, input: object) => {
      const answer = await who.call(name, input);
      t.equal(answer.isError, true, `${name} ${JSON.stringify(input)}`);
      t.equal(answer.structuredContent, undefined);
      return JSON.parse(answer.content[0]?.text ?? '');
    };
    t.match(await failed(await connect(t, url, poor.bearer), 'poll_question', POLL), {
      error: /may cost up to/,
      code: 'insufficient_balance',
      recovery: [{ action: 'add_funds', method: 'POST', url: 'https://polls.example/api/deposit' }, {}],
    });
    for (const [input, pointer] of [
      [{}, '#/options'],
      [{ ...POLL, question: 'short' }, '#/question'],
      [{ ...POLL, options: ['é', 'e\u0301'] }, '#/options/1'],
      [{ ...POLL, max_cost_usd: 0 }, '#/max_cost_usd'],
      [{ ...POLL, idempotency_key: 'two words' }, '#/idempotency_key'],
      [{ ...POLL, idempotency_key: 7 }, '#/idempotency_key'],
    ] as const) {
      const refusal = await failed(peer, 'poll_question', input);
      t.match(refusal, { code: 'validation_error', recovery: [{ action: 'open_documentation' }] });
      t.ok(
        refusal.errors.some((issue: { pointer: string }) => issue.pointer === pointer),
        JSON.stringify(refusal.errors),
      );
    }
    t.match(await failed(peer, 'poll_question', { ...POLL, preset: 'free' }), { code: 'invalid_preset' });
    t.match(await failed(peer, 'get_poll_result', { result_id: 'EP-2026-11-20-nobodys' }), {
      code: 'result_not_found',
    });
    t.match(await failed(peer, 'get_poll_result', {}), { code: 'validation_error' });
    await t.rejects(peer.call('no_such_tool'), { code: -32_602 });
    t.same(await stored(context), before, 'nothing was run, nothing kept');
  });

  t.test(`${era} retries with the same idempotency_key and pays once`, async (t) => {
    const { bearer, accountId } = await keyWith(5);
    const peer = await connect(t, url, bearer);
    const asked = { ...POLL, idempotency_key: 'a-key' };
    const first = await peer.call('poll_question', asked);
    const { usageU } = (await balanceOf(context.storage, accountId))!;
    t.same(await peer.call('poll_question', asked), first);
    t.equal((await balanceOf(context.storage, accountId))?.usageU, usageU);
    const other = await peer.call('poll_question', { ...asked, options: ['A', 'C'] });
    t.match(JSON.parse(other.content[0]?.text ?? ''), { code: 'idempotency_key_reused' });
    const stranger = await connect(t, url, (await keyWith(5)).bearer);
    const theirs = await stranger.call('poll_question', asked);
    t.not(theirs.structuredContent?.poll_id, first.structuredContent?.poll_id);
  });

  t.test(`[§I2-prototype-options] ${era} may name options like object properties`, async (t) => {
    const peer = await connect(t, url, (await keyWith(5)).bearer);
    const options = ['__proto__', 'constructor', 'toString'];
    const { content } = await peer.call('poll_question', { ...POLL, options });
    const result = JSON.parse(content[0]?.text ?? '');
    t.same(Object.keys(result.tally).sort(), options.toSorted());
    t.equal(result.winning_option, '__proto__');
  });

  t.test(`${era}, many concurrent calls: each gets its own answer`, async (t) => {
    const callers = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => ({
        usd: i + 1,
        peer: await connect(t, url, (await keyWith(i + 1)).bearer),
      })),
    );
    const rounds = callers.flatMap((caller) => [caller, caller, caller, caller]);
    await Promise.all(
      rounds.map(async ({ usd, peer }, i) => {
        const options = [`option ${usd}-${i}`, 'other'];
        const [balance, poll] = await Promise.all([
          peer.call('get_balance'),
          i % 4 === 0 ? peer.call('poll_question', { ...POLL, options }) : null,
        ]);
        const cents = Number(balance.structuredContent?.balance_cents);
        t.ok(cents <= usd * 100 && cents > usd * 100 - 100, `${cents} cents of ${usd} dollars`);
        if (poll) t.same(poll.structuredContent?.options, options);
      }),
    );
  });

  for (const [how, key, isCanceled] of [
    ['without a key', {}, revision === '2026-07-28'],
    ['with a key', { idempotency_key: 'k' }, false],
  ] as const)
    t.test(
      `${era} disconnects ${how}: the poll ${isCanceled ? 'is canceled' : 'goes on'}, and the gateway stops following it`,
      async (t) => {
        const { promise: held, resolve: release } = Promise.withResolvers<void>();
        const slow = await build(t);
        const { storage, bus } = slow.context;
        const heard: string[] = [];
        bus.onCancel((pollId) => heard.push(pollId));
        const { ran } = await standInWorker(t, slow.context, { holdUntil: held });
        const there = new URL('/api/mcp', await slow.app.listen({ host: '127.0.0.1', port: 0 }));
        const peer = await connect(t, there, (await slow.keyWith(5)).bearer);
        // The client reconnects after a disconnect without sending a request; close would wait for that connection.
        t.teardown(() => slow.app.server.closeAllConnections());
        const call = peer.call('poll_question', { ...POLL, ...key }).catch((error: unknown) => error);
        await eventually('the request waits for its poll', () => bus.watched() === 1);
        const { id } = await eventually('a worker has the poll', () =>
          storage.db.selectFrom('polls').select('id').where('lease_owner', 'is not', null).executeTakeFirst(),
        );
        await peer.hangUp();
        t.ok((await call) instanceof Error);
        await eventually('nothing waits for the poll', () => bus.watched() === 0);
        if (isCanceled) await eventually('its worker hears of it', () => heard.includes(id));
        release();
        await eventually('one poll was run', () => ran.length === 1);
        t.equal((await findPoll(storage, id))?.status, 'completed');
        t.equal(await wasCanceled(storage, id), isCanceled);
      },
    );
}

t.test('a client of 2026-07-28 that leaves a poll which no worker has pays nothing', async (t) => {
  const idle = await build(t);
  const there = new URL('/api/mcp', await idle.app.listen({ host: '127.0.0.1', port: 0 }));
  const { bearer, accountId } = await idle.keyWith(5);
  const peer = await newPeer(t, there, bearer);
  t.teardown(() => idle.app.server.closeAllConnections());
  const call = peer.call('poll_question', POLL).catch((error: unknown) => error);
  await eventually('the request waits for its poll', () => idle.context.bus.watched() === 1);
  await peer.hangUp();
  t.ok((await call) instanceof Error);
  const { db } = idle.context.storage;
  const ended = await eventually('the poll has ended', () =>
    db.selectFrom('polls').select(['status', 'canceled_at']).where('finished_at', 'is not', null).executeTakeFirst(),
  );
  t.match(ended, { status: 'failed', canceled_at: Date });
  t.match(await balanceOf(idle.context.storage, accountId), { usageU: 0n, heldU: 0n });
});

t.test('a gateway that ends cancels no poll', async (t) => {
  const ending = await build(t);
  const there = new URL('/api/mcp', await ending.app.listen({ host: '127.0.0.1', port: 0 }));
  const peer = await newPeer(t, there, (await ending.keyWith(5)).bearer);
  t.teardown(() => ending.app.server.closeAllConnections());
  const call = peer.call('poll_question', POLL).catch((error: unknown) => error);
  const { db } = ending.context.storage;
  const states = () => db.selectFrom('polls').select(['status', 'canceled_at']).execute();
  await eventually('the poll is stored', async () => (await states()).length === 1);
  ending.context.shutdown.end();
  await peer.hangUp();
  await call;
  await eventually('nothing waits for the poll', () => ending.context.bus.watched() === 0);
  t.match(await states(), [{ status: 'running', canceled_at: null }]);
});

t.test('a poll without valid votes is an error with its poll_id', async (t) => {
  const lost = await build(t);
  await standInWorker(t, lost.context, { opinion: () => null });
  const there = new URL('/api/mcp', await lost.app.listen({ host: '127.0.0.1', port: 0 }));
  for (const { connect } of PEERS) {
    const { bearer, accountId } = await lost.keyWith(5);
    const answer = await (await connect(t, there, bearer)).call('poll_question', POLL);
    t.equal(answer.isError, true);
    t.match(JSON.parse(answer.content[0]?.text ?? ''), { code: 'poll_failed', poll_id: /^EP-/, retryable: false });
    t.equal((await balanceOf(lost.context.storage, accountId))?.usageU, 0n);
  }
});
