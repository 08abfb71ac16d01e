import { run } from './run.ts';

/** Runs a command line in this process: its streams, its signals, its exit code. */
export async function runHere(
  argv: readonly string[],
  { env = process.env, whenUnreachable }: { env?: NodeJS.ProcessEnv; whenUnreachable?: string } = {},
): Promise<void> {
  const enough = new AbortController();
  // A launcher may pass on a signal that the terminal has sent already, so twice means no more than once.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => enough.abort());
  // Who reads us may stop early, as `head` does.
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
