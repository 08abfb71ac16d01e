import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { complete, RESULT, serve, sse, started } from './service.ts';

// The command as a shell runs it.

const MAIN = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));

function eloquentpoll(url: string, ...argv: string[]) {
  const env = { ...process.env, EP_URL: url, EP_KEY: 'ep_k_x' };
  return spawn(process.execPath, [MAIN, ...argv], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function ended(child: ReturnType<typeof eloquentpoll>) {
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { out, err, code };
}

t.test('in a pipe the CLI prints the result and exits with its code', async (t) => {
  const { url } = await serve(t, (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(sse('started', started(0)) + complete(1, { ...RESULT, status: 'partial' }));
  });
  const { out, err, code } = await ended(eloquentpoll(url, 'Which is larger? [The Sun, The Moon]'));
  t.equal(code, 3, err);
  t.match(out, /^The Sun: 2 of 3, stopped early\n/);
  t.equal(err, 'asking up to 6 models\n');
});

t.test('an output that cannot be written, and a defect, do not exit as a tie does', async (t) => {
  const { url } = await serve(t, ({ path }) => (path.endsWith('EP-1') ? RESULT : { verdict: {} }));
  const env = { ...process.env, EP_URL: url, EP_KEY: 'ep_k_x' };
  if (existsSync('/dev/full')) {
    const full = openSync('/dev/full', 'w');
    t.teardown(() => closeSync(full));
    const child = spawn(process.execPath, [MAIN, 'result', 'EP-1'], { env, stdio: ['ignore', full, 'pipe'] });
    const [err, [code]] = await Promise.all([text(child.stderr!), once(child, 'close')]);
    t.equal(code, 2);
    t.match(err, /^eloquentpoll: Standard output cannot be written: ENOSPC/);
  }
  const { code, err } = await ended(eloquentpoll(url, 'result', 'EP-2'));
  t.equal(code, 70, err);
  t.match(err, /^TypeError: .*\n {4}at /);
});

t.test('Ctrl-C ends the CLI at once', async (t) => {
  const { url } = await serve(t, (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(sse('started', started(0)));
  });
  const child = eloquentpoll(url, 'Which is larger? [The Sun, The Moon]');
  child.stderr.once('data', () => child.kill('SIGINT'));
  const { err, code } = await ended(child);
  t.equal(code, 130);
  t.match(err, 'eloquentpoll watch ps_1');
});

t.test('a closed output pipe is not an error', async (t) => {
  const { url } = await serve(t, () => RESULT);
  const child = eloquentpoll(url, 'result', 'EP-1', '--json');
  child.stdout.destroy();
  t.equal(await text(child.stderr), '', 'nothing to complain about');
});
