import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { decimalUsd } from '../../src/polls/order/decimal-usd.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

const QUESTION = 'Which of these is the best choice?';
const { app, context, keyWith, sessionFor } = await build(t);
await standInWorker(t, context, { opinion: (seat) => (seat === 1 ? null : 0) });

async function poll(bearer: { authorization: string }, more: object = {}) {
  const payload = { question: QUESTION, options: ['A', 'B'], ...more };
  const answer = await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload });
  if (answer.statusCode !== 200) throw new Error(answer.body);
  return answer;
}

t.test(
  '[§4.2-recent-401, §4.2-history-401, §5-rule-cookie-only, §A6-cookie-only-bearer-401] lists need the cookie',
  async (t) => {
    const { bearer } = await keyWith(0);
    for (const url of ['/api/results/recent', '/api/results']) {
      for (const headers of [{}, { cookie: 'ep_session=nonsense' }, bearer]) {
        const answer = await app.inject({ url, headers });
        t.match([answer.statusCode, answer.json().code], [401, 'authentication_required'], url);
        t.ok(answer.headers['www-authenticate']);
        t.notOk(answer.headers['access-control-allow-origin'], 'no other page may read it');
      }
      t.match((await app.inject({ url, headers: bearer })).json().error, /session cookie.*\/api\/auth\/login/);
    }
  },
);

t.test(
  '[§4.2-recent-200, §4.2-recent-5, §4.2-recent-own, §8-recent, §4.2-history-200, §4.2-history-own, §4.2-history-limit, §4.2-history-offset, §8-history-page-default, §8-history-page-max, §8-history-offset-default, §1-support-history] own results, newest first, in pages',
  async (t) => {
    const [owner, other] = [await keyWith(5), await keyWith(5)];
    const ids: string[] = [];
    for (let i = 0; i < 23; i++) {
      ids.unshift((await poll(owner.bearer, { preset: 'fast' })).json().poll_id);
      if (i % 8 === 0) await poll(other.bearer, { preset: 'fast' });
    }
    const headers = await sessionFor(owner.accountId);
    const list = async (query: string) => {
      const answer = await app.inject({ url: `/api/results${query}`, headers });
      t.equal(answer.statusCode, 200, query);
      t.equal(answer.headers['cache-control'], 'no-store');
      return answer.json();
    };
    const listed = async (query: string) => (await list(query)).map(({ resultId }: { resultId: string }) => resultId);

    t.same(await listed('/recent'), ids.slice(0, 5));
    t.same(await listed(''), ids.slice(0, 20));
    t.same(await listed('?limit=100'), ids);
    t.same(await listed('?offset=20'), ids.slice(20));
    t.same(
      [...(await listed('?limit=9')), ...(await listed('?limit=9&offset=9')), ...(await listed('?limit=9&offset=18'))],
      ids,
    );
    t.same(await listed('?limit=1&offset=22'), ids.slice(22));
    t.same(await listed('?limit=1&offset=23'), []);
    for (const far of ['100001', '99999999999999999999']) t.same(await listed(`?offset=${far}`), []);
    t.same(await listed('?surface=web'), ids.slice(0, 20), 'unknown parameters count not');
    t.equal((await list('')).filter(({ resultId }: { resultId: string }) => !ids.includes(resultId)).length, 0);

    // [§2.5-result-id, §2.5-poll-type, §2.5-winning-option, §2.5-is-tie, §2.5-models-requested]
    // [§2.5-models-succeeded, §2.5-created-at]
    const [recent] = await list('/recent');
    const summary = {
      resultId: ids[0],
      pollType: 'fptp',
      winningOption: 'A',
      isTie: false,
      modelsRequested: 5,
      modelsSucceeded: 4,
    };
    const { createdAt, ...rest } = recent;
    t.same(rest, summary);
    t.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000);
    // [§2.6-result-id, §2.6-status, §2.6-poll-type, §2.6-winning-option, §2.6-is-tie, §2.6-models-requested]
    // [§2.6-models-succeeded, §2.6-total-cost-usd, §2.6-total-ms, §2.6-created-at]
    const { expiresAt, ...newest } = (await list('?limit=1'))[0];
    t.same(newest, { ...recent, status: 'success', totalCostUsd: '0.0004', totalMs: 2 });
    t.ok(Date.parse(expiresAt) > Date.now());
  },
);

t.test('[§7-400-validation] pages that cannot be are refused', async (t) => {
  const headers = await sessionFor((await keyWith(0)).accountId);
  for (const query of [
    'limit=0',
    'limit=101',
    'limit=-1',
    'limit=2.5',
    'limit=many',
    'limit=',
    'limit=1&limit=2',
    'offset=-1',
    'offset=1e999',
    'offset=NaN',
  ]) {
    const answer = await app.inject({ url: `/api/results?${query}`, headers });
    t.match([answer.statusCode, answer.json().code], [400, 'validation_error'], query);
  }
});

t.test('amounts are exact to the last digit', async (t) => {
  for (const [microUsd, text] of [
    [0n, '0.00'],
    [1n, '0.000001'],
    [100n, '0.0001'],
    [120_000n, '0.12'],
    [1_000_000n, '1.00'],
    [12_345_678_901_234_567n, '12345678901.234567'],
    [-1n, '-0.000001'],
  ] as const)
    t.equal(decimalUsd(microUsd), text);
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), (microUsd) => {
      const [whole, places = ''] = decimalUsd(microUsd).split('.');
      return places.length >= 2 && BigInt(whole!.replace('-0', '-') + places.padEnd(6, '0')) === microUsd;
    }),
  );
});
