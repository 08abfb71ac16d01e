import { askPerson } from './ask-person.ts';
import { openInBrowser } from './browser.ts';
import { EXIT } from './exit-codes.ts';
import { run } from './run.ts';
import type { Terminal } from './terminal.ts';

type Given = Partial<Pick<Terminal, 'env' | 'program' | 'localKey' | 'whenUnreachable'>>;

/** Runs a command line with this process's streams, signals and exit code. */
export async function runHereCommand(argv: readonly string[], given: Given = {}): Promise<void> {
  const enough = new AbortController();
  // A launcher may forward a signal that the terminal has already sent, so a second one is ignored.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => enough.abort());
  // The reader of a pipe may close it early, as `head` does.
  let isFull = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    enough.abort();
    if (error.code === 'EPIPE') return;
    isFull = true;
    process.exitCode = EXIT.usage;
    process.stderr.write(`eloquentpoll: Standard output cannot be written: ${error.message}\n`);
  });
  // As in `2>&1 | head`. There is no other place where it could be said.
  process.stderr.on('error', () => {});
  // Node's default exit code for a defect would be the one that means a tie.
  process.on('uncaughtException', (error) => {
    process.stderr.write(`${error?.stack ?? error}\n`);
    process.exit(EXIT.defect);
  });
  const { stdin, stdout: out, stderr: err } = process;
  const { env = process.env } = given;
  const canAsk = stdin.isTTY && out.isTTY && !argv.includes('--json');
  const exit = await run(argv, {
    ...given,
    out,
    err,
    env,
    signal: enough.signal,
    openBrowser: (url) => openInBrowser(url, env),
    ...(canAsk && { ask: (label: string) => askPerson(label, enough, { input: stdin, output: err }) }),
  });
  process.exitCode = isFull ? EXIT.usage : exit;
}
