import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '@eloquentpoll/launch/folders';
import { type OpsHandler, openMetrics, openOpsPort, openReadiness } from '@eloquentpoll/ops';
import t, { type Test } from 'tap';

const PROGRAM = join(root, 'scripts/operator/console.ts');

const ID = '11111111-1111-4111-8111-111111111111';

/** Runs the command against a port for operators whose console, if any, is `handler`. */
async function port(t: Test, handler: OpsHandler | null = null) {
  const metrics = openMetrics('gateway');
  const readiness = openReadiness(metrics, {});
  const opened = await openOpsPort({ host: '127.0.0.1', port: 0, metrics, readiness, handler, onFailure: () => {} });
  t.teardown(() => opened[Symbol.asyncDispose]());
  const env = { OPS_URL: opened.url, ADMIN_TOKEN: 'a token of sixteen', OPERATOR: 'grace' };
  return (...args: string[]) =>
    promisify(execFile)(process.execPath, [PROGRAM, ...args], { env }).catch(({ code, stderr }) => ({ code, stderr }));
}

t.test('where a process has no console, every command says so, and what is needed', async (t) => {
  const run = await port(t);
  const commands = [['help'], ['log'], ['account', ID], ['freeze', ID, '--reason', 'three disputed cards']];
  for (const args of commands)
    t.match(
      await run(...args),
      { code: 2, stderr: /has no console: .* a gateway that has ADMIN_TOKEN/ },
      args.join(' '),
    );
  t.match(await run('account', 'ada'), { code: 2, stderr: /the id of an account is missing or wrong/ });
});

t.test('a gateway that fails after it may have refunded: the command prints the id that repeats it once', async (t) => {
  const run = await port(t, async () => {
    throw new Error('Postgres is away');
  });
  t.match(await run('refund', ID, '--amount', '5', '--reason', 'paid twice'), {
    code: 2,
    stderr:
      /^console: the gateway failed: whether it was done is not known; the same with --id [0-9a-f-]{36} does it once\n$/,
  });
});

t.test('an action that was done and could not be recorded is no failure; the command prints note and id', async (t) => {
  const body = JSON.stringify({
    outcome: 'refunded',
    detail: 'The money goes back.',
    facts: {},
    note: 'Not in the log.',
  });
  const run = await port(t, async (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    return true;
  });
  t.match(await run('refund', ID, '--amount', '5', '--reason', 'paid twice'), {
    stdout:
      /^The money goes back\.\nNot in the log\.\nThe same with --id [0-9a-f-]{36} repeats it, and does it once\.\n$/,
  });
});
