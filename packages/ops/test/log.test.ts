import { spawnSync } from 'node:child_process';
import t from 'tap';

const LOG = new URL('../src/log.ts', import.meta.url).href;
const METRICS = new URL('../src/metrics.ts', import.meta.url).href;

/** The messages of a process that logs and ends in this way. */
function messagesOf(code: string): string[] {
  const program = `import { openLog } from '${LOG}';
    import { openMetrics } from '${METRICS}';
    const log = openLog(openMetrics('gateway'), 'info');
    ${code}`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
}

t.test(
  'lines are written together in their order, none is lost with the end of a process, and a warning waits for nothing',
  (t) => {
    const ended = messagesOf("log.info('one'); log.info('two'); process.exit(0);");
    t.same(ended, ['one', 'two']);
    const failed = messagesOf("log.info('before'); throw new Error('a bug');");
    t.same(failed, ['before']);
    const killed = messagesOf(
      "log.info('one'); log.warn('two'); log.info('lost'); process.kill(process.pid, 'SIGKILL');",
    );
    t.same(killed, ['one', 'two']);
    const many = messagesOf("for (let i = 0; i < 500; i++) log.info('line ' + i);");
    t.same(
      many,
      Array.from({ length: 500 }, (_, i) => `line ${i}`),
    );
    t.end();
  },
);
