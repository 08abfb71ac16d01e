import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { Failure, report } from '@eloquentpoll/launch/failure';
import type { ProcessGroup } from '@eloquentpoll/services/process-group';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';

// Shared by all commands of the lab: options, usage errors (exit code 2), Ctrl-C (130), and servers that end with the
// command.

export class UsageError extends Error {}

export function parseOptions<const T extends ParseArgsOptionsConfig>(argv: readonly string[], options: T) {
  try {
    // A package runner passes on its own separator.
    return parseArgs({ args: argv[0] === '--' ? argv.slice(1) : [...argv], options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

export function wholeNumber(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new UsageError(`${option} is a whole number from ${min} to ${max}, not "${text}"`);
}

export function number(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= min && value <= max) return value;
  throw new UsageError(`${option} is a number from ${min} to ${max}, not "${text}"`);
}

/** Parses names separated by commas; each must be in `known`. */
export function names<T extends string>(what: string, text: string, known: readonly T[]): T[] {
  return text.split(',').map((part) => {
    const name = known.find((one) => one === part.trim());
    if (name === undefined) throw new UsageError(`there is no ${what} "${part.trim()}"`);
    return name;
  });
}

/** What a command runs with: a group for its servers, and a signal that Ctrl-C aborts. */
export interface CommandRun {
  readonly signal: AbortSignal;
  /** Ends, with all its processes, when the command does. */
  group(): Promise<ProcessGroup>;
}

/** Runs a command, then exits with the code that it returns. */
export async function runCommand(usage: string, command: (run: CommandRun) => Promise<number>): Promise<never> {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      // At a second Ctrl-C, only the guards of the process groups clean up.
      if (interrupted.signal.aborted) process.exit(130);
      interrupted.abort(new Error('interrupted'));
    });
  process.exit(await exitCodeOf(usage, command, interrupted.signal));
}

async function exitCodeOf(
  usage: string,
  command: (run: CommandRun) => Promise<number>,
  signal: AbortSignal,
): Promise<number> {
  try {
    await using made = new AsyncDisposableStack();
    return await command({
      signal,
      group: async () => made.use(await openThrowAwayGroup('this command', { neededMb: 500 })),
    });
  } catch (error) {
    if (signal.aborted) {
      console.error('interrupted; everything that was started is gone');
      return 130;
    }
    if (error instanceof UsageError) {
      console.error(`${error.message}\n\n${usage}`);
      return 2;
    }
    report(isAboutAFile(error) ? new Failure(error.message) : error);
    return 1;
  }
}

/** The user named the file, so the message is enough without a stack. */
const isAboutAFile = (error: unknown): error is Error => error instanceof Error && 'code' in error && 'path' in error;
