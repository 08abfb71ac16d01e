import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '@eloquentpoll/launch/folders';
import { bareEnvironment } from '@eloquentpoll/services/bare-environment';

// Runs the operator's command as a process of its own, which can be killed at any of its steps.

const COMMAND = join(root, 'scripts/operator/cells.ts');

/** The steps that it prints to stderr, in this order. */
export const STEPS = ['copied', 'frozen', 'drained', 'copied_all', 'left', 'arrived'] as const;

/** What the command has to know of a cell. */
export interface CellPlace {
  readonly name: string;
  readonly stores: { readonly databaseUrl: string };
}

export interface CommandEnd {
  /** 1 if it found something wrong; null after a kill. */
  code: number | null;
  json: Record<string, unknown>;
}

const WITHIN_MS = 300_000;

/**
 * `killAfter`: sends SIGKILL so many milliseconds after the command has printed this step. Fails if the command ends
 * by another signal, or not within `withinMs`.
 */
export async function runCellsCommand(
  cells: readonly CellPlace[],
  args: readonly string[],
  { killAfter, withinMs = WITHIN_MS }: { killAfter?: { step: string; ms: number }; withinMs?: number } = {},
): Promise<CommandEnd> {
  const urls = cells.map(({ name, stores }) => `${name}=${stores.databaseUrl}`).join(' ');
  const child = spawn(process.execPath, [COMMAND, ...args, '--json'], {
    env: { ...bareEnvironment(), CELL_URLS: urls },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: withinMs,
    killSignal: 'SIGKILL',
  });
  let text = '';
  const problems: string[] = [];
  let wasKilled = false;
  child.stdout.setEncoding('utf8').on('data', (piece) => {
    text += piece;
  });
  createInterface({ input: child.stderr }).on('line', (line) => {
    problems.push(line);
    if (killAfter?.step !== line) return;
    setTimeout(() => {
      wasKilled ||= child.kill('SIGKILL');
    }, killAfter.ms);
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (code === null && wasKilled) return { code, json: {} };
  if (code === null || !text.startsWith('{'))
    throw new Error(`cells ${args.join(' ')}: ${code ?? signal}: ${problems.join(' ')}`);
  return { code, json: JSON.parse(text) as Record<string, unknown> };
}
