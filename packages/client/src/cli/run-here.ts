import { run } from './run.ts';

/** Runs a command line with this process's streams, signals and exit code. */
export async function runHereCommand(
  argv: readonly string[],
  { env = process.env, whenUnreachable }: { env?: NodeJS.ProcessEnv; whenUnreachable?: string } = {},
): Promise<void> {
  const enough = new AbortController();
  // A launcher may forward a signal that the terminal has sent already, so a second one is ignored.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => enough.abort());
  // The reader of a pipe may close it early, as `head` does.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    enough.abort();
  });
  const { stdout: out, stderr: err } = process;
  process.exitCode = await run(argv, {
    out,
    err,
    env,
    signal: enough.signal,
    ...(whenUnreachable !== undefined && { whenUnreachable }),
  });
}
