import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import t from 'tap';
import { ADMIN_TOKEN, operated } from '../fixtures/operator.ts';

// The operators' command is a program that knows a gateway's port for operators and nothing else.

const PROGRAM = createRequire(import.meta.url).resolve('../../../../scripts/operator/console.ts');

t.test('the command acts, explains itself, shows the log, and says by its exit code what happened', async (t) => {
  const { url, keyWith, app } = await operated(t);
  const { accountId, bearer } = await keyWith(1);
  const env = { OPS_URL: url, ADMIN_TOKEN, OPERATOR: 'grace' };
  const run = (args: string[], more: Record<string, string> = {}) =>
    promisify(execFile)(process.execPath, [PROGRAM, ...args], { env: { ...env, ...more } }).then(
      ({ stdout }) => ({ code: 0, out: stdout, err: '' }),
      ({ code, stdout, stderr }) => ({ code, out: String(stdout), err: String(stderr) }),
    );

  const frozen = await run(['freeze', accountId, '--reason', 'three disputed cards', '--json']);
  t.match(JSON.parse(frozen.out), { outcome: 'frozen', facts: { polls_ended: '0' } });
  t.equal((await app.inject({ url: '/api/keys', headers: bearer })).statusCode, 403);
  t.match(JSON.parse((await run(['account', accountId])).out), {
    accountId,
    frozenAt: String,
    closedAt: null,
    postedU: '1000000',
    activeKeys: 1,
    checkouts: { length: 0 },
    deposits: { length: 0 },
  });
  t.match(await run(['account', '11111111-1111-4111-8111-111111111111']), { code: 2, err: /no such account/ });
  t.match(await run(['freeze', accountId, '--reason', 'once more']), { code: 1, out: /^Nothing to do/ });
  t.match(await run(['unfreeze', accountId, '--reason', 'paid', '--as', 'ada']), { code: 0, out: /can be used again/ });
  t.match(await run(['freeze', accountId]), { code: 2, err: /Say why/ });
  t.match(await run(['correct', accountId, '--wrong', '1', '--reason', 'typing']), { code: 2, err: /gives, USD/ });
  t.match(await run(['destroy', accountId, '--reason', 'typing']), { code: 2, err: /no action destroy/ });
  t.match(await run(['stop-all', '--reason', 'a drill']), { code: 0, out: /^Stopped/ });
  t.match(await run(['help']), { code: 0, out: /^refund <checkout id> --amount <amount, USD> --reason <why>$/m });

  const id = '7a3c5c0e-6d0f-4a52-9a0b-3f1c2d4e5f60';
  const correct = ['correct', accountId, '--wrong', '1', '--right', '5', '--reason', 'typing', '--id', id];
  for (const _ of [1, 2]) t.match(await run([...correct, '--json']), { code: 0, out: new RegExp(`"id":"${id}"`) });
  t.match(JSON.parse((await run(['account', accountId])).out), { postedU: '5000000' });
  const lost = await run(correct.slice(0, -2), { OPS_URL: 'http://127.0.0.1:1' });
  t.match(lost, { code: 2, err: /not known; the same with --id [0-9a-f-]{36} does it once/ });

  const log = JSON.parse((await run(['log', '--json'])).out);
  t.match(log, [
    { operator: 'grace', verb: 'correct' },
    { operator: 'grace', verb: 'stop-all', subject: 'fleet', outcome: 'stopped' },
    { operator: 'ada', verb: 'unfreeze' },
    { operator: 'grace', outcome: 'gone' },
    { operator: 'grace', outcome: 'frozen', reason: 'three disputed cards' },
  ]);
  t.equal(log.length, 5, 'what was refused is no action');
  t.match(await run(['log'], { ADMIN_TOKEN: 'another-token-of-somewhere' }), { code: 2, err: /ADMIN_TOKEN/ });
  t.match(await run(['log'], { OPS_URL: 'http://127.0.0.1:1' }), { code: 2, err: /does not answer/ });
  t.match(await run(['log'], { OPS_URL: '' }), { code: 2, err: /OPS_URL/ });
});
