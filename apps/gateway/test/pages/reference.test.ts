import { brotliCompressSync } from 'node:zlib';
import t from 'tap';
import { SAMPLES } from '../../src/discovery/documents/operation-samples.ts';
import { curlCommand } from '../../src/pages/reference/curl-command.ts';
import type { ApiDocument } from '../../src/pages/reference/openapi-shapes.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

/** Of these the document shows how they answer where their operator has configured nothing. */
const NOT_SET_UP = ['listModels', 'getReceipt', 'getReceiptKeys', 'listReceiptDays'];

t.test('one gateway for all of these', async (t) => {
  const webhooks = { sealingKeys: ['a sealing key of at least 32 characters'], toLoopback: false };
  const { app, context, keyWith, sessionFor } = await build(t, { webhooks });
  const { bearer, accountId } = await keyWith(20);
  const session = await sessionFor(accountId);
  await standInWorker(t, context);
  const document: ApiDocument = (await app.inject('/api/openapi.json')).json();
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const page = (await app.inject('/api/docs')).body;

  const made = async (operation: string, url: string) => {
    const payload = SAMPLES[operation]!.body!;
    return (await app.inject({ method: 'POST', url, headers: { ...bearer, ...session }, payload })).json();
  };
  /** What the samples name, as it is called here. */
  const ids: Record<string, string> = {
    keyId: (await made('createKey', '/api/keys')).id,
    batchId: (await made('createBatch', '/api/batches')).batch_id,
    endpointId: (await made('createWebhookEndpoint', '/api/webhook-endpoints')).endpoint_id,
  };
  const addressOf = (path: string, steps: Readonly<Record<string, string>> = {}) =>
    path.replace(/{(\w+)}/g, (_, name: string) => ids[name] ?? steps[name]!);

  await t.test(
    '[§4.7-docs] every operation and every shape is on the page once, and every link on it leads somewhere',
    async (t) => {
      for (const { path, operation } of operations)
        if (operation.tags?.[0] !== 'Files')
          t.equal(page.split(`id="${operation.operationId}"`).length, 2, operation.operationId);
        else t.match(page, path);
      for (const name of Object.keys(document.components!.schemas!)) t.match(page, `id="shape-${name}"`);
      const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
      for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) t.ok(ids.has(target), `#${target}`);
    },
  );

  await t.test('every command sends the method of its operation', async (t) => {
    let shown = 0;
    for (const located of operations) {
      const command = curlCommand({ baseUrl: 'https://poll.example', panels: context.panels }, located);
      if (command === null) continue;
      const [, said] = /-X (\w+)/.exec(command) ?? [];
      t.equal(said ?? (command.includes(" -d '") ? 'POST' : 'GET'), located.method, located.operation.operationId);
      shown++;
    }
    t.ok(shown > 100, `${shown} commands`);
  });

  await t.test('it is small enough to be read at once on a slow line', async (t) => {
    t.ok(brotliCompressSync(page).length < 40_000, `${brotliCompressSync(page).length} bytes`);
    t.equal(page.match(/<script type="module"/g)?.length, 1, 'it needs no script of its own');
  });

  await t.test('every sample that has a body is answered with a result', async (t) => {
    const { poll_id } = (
      await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload: SAMPLES.createPoll!.body! })
    ).json();
    let sent = 0;
    for (const { path, method, operation } of operations) {
      const { body, path: steps } = SAMPLES[operation.operationId] ?? {};
      // No card processor is set up here; its sample is checked as a request by checkout.test.ts.
      if (!body || operation.operationId === 'createCheckout') continue;
      const byLogin = operation.security?.every((one) => !('apiKey' in one)) ?? false;
      const answer = await app.inject({
        method: method as 'POST',
        url: addressOf(path, steps),
        headers: { ...(byLogin ? session : bearer), accept: 'application/json, text/event-stream' },
        payload: 'poll_id' in body ? { ...body, poll_id } : body,
      });
      t.ok(answer.statusCode < 300, `${operation.operationId}: ${answer.statusCode} ${answer.body.slice(0, 200)}`);
      t.notMatch(answer.body, /"isError":true|"valid":false/, operation.operationId);
      sent++;
    }
    t.ok(sent >= 12, `${sent} samples`);
  });

  await t.test('every sample of an address is that of the document, and is answered as it says', async (t) => {
    const poll = (
      await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload: SAMPLES.createPoll!.body! })
    ).json();
    const run = (
      await app.inject({ method: 'POST', url: '/api/polls', headers: bearer, payload: SAMPLES.createPoll!.body! })
    ).json();
    const models = poll.votes.slice(0, 3).map((vote: { model_id: string }) => vote.model_id);
    await app.inject({ method: 'PUT', url: '/api/panels/night-checks', headers: bearer, payload: { models } });
    Object.assign(ids, { resultId: poll.poll_id, pollId: poll.poll_id, id: run.session_id });
    for (const { path, method, operation } of operations) {
      const { path: steps = {}, query = {} } = SAMPLES[operation.operationId] ?? {};
      for (const { name, example } of operation.parameters ?? [])
        if (name in steps || name in query)
          t.equal(
            encodeURIComponent(String(example)),
            encodeURIComponent(decodeURIComponent((steps[name] ?? query[name])!)),
            `${operation.operationId} ${name}`,
          );
      if (method !== 'GET' || Object.keys({ ...steps, ...query }).length === 0) continue;
      const address = addressOf(path, steps);
      const byLogin = operation.security?.some((one) => 'session' in one) ?? false;
      const answer = await app.inject({
        url: `${address}?${new URLSearchParams(query)}`,
        headers: byLogin ? session : bearer,
      });
      // No registry and no receipts are set up here; both are declared.
      const declared = Object.keys(operation.responses).map(Number);
      t.ok(declared.includes(answer.statusCode), `${operation.operationId}: ${answer.statusCode} is declared`);
      if (!NOT_SET_UP.includes(operation.operationId))
        t.ok(answer.statusCode < 300, `${operation.operationId}: ${answer.statusCode} ${answer.body.slice(0, 200)}`);
    }
  });

  await t.test('every operation that takes a body has a sample, or a reason for having none', async (t) => {
    const without = operations
      .filter(({ operation }) => operation.requestBody && !SAMPLES[operation.operationId]?.body)
      .map(({ operation }) => operation.operationId);
    // Signed by a wallet, sent by a page, or with the ids of the models that a service has.
    const reasons = [
      'deleteAccountByWallet',
      'deposit',
      'redeemGrant',
      'revokeKeyByWallet',
      'rotateKeysByWallet',
      'savePanel',
      'verifyWallet',
    ];
    t.same(without.sort(), reasons);
    for (const id of Object.keys(SAMPLES))
      t.ok(
        operations.some(({ operation }) => operation.operationId === id),
        id,
      );
  });
});
