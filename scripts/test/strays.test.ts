import { spawn } from 'node:child_process';
import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { endStraysIn, processesIn } from '@eloquentpoll/services/strays';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';

if (process.platform !== 'linux') {
  t.pass('processes are found by their folder on Linux only');
  process.exit();
}

/** All processes that work in the folder. */
const all = (folder: string): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder);
      } catch {
        return false;
      }
    });

t.test('a server that was left in a folder is ended, and a shell that was opened there lives on', async (t) => {
  const folder = t.testdir();
  const shell = `cd '${folder}' && exec sleep 60`;
  // `script` runs it in a terminal.
  const terminal = spawn('script', ['-qefc', shell, '/dev/null'], { stdio: ['pipe', 'ignore', 'ignore'] });
  const server = spawn('sleep', ['60'], { cwd: folder, detached: true, stdio: 'ignore' });
  t.teardown(() => {
    terminal.kill();
    server.kill('SIGKILL');
  });
  await eventually('both work there', () => all(folder).length === 2);
  t.same(processesIn(folder), [server.pid]);
  await endStraysIn(folder, 'postgres', 'SIGTERM');
  await eventually('only the shell works there', () => all(folder).length === 1);
  t.not(all(folder)[0], server.pid);
});
