import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '@eloquentpoll/launch/folders';
import type { RunningCell } from './two-cells.ts';

// Runs the operator's command as a process of its own, which can be killed at any of its steps.

const COMMAND = join(root, 'scripts/operator/cells.ts');

/** The steps that it prints to stderr, in this order. */
export const STEPS = ['copied', 'frozen', 'drained', 'copied_all', 'left', 'arrived'] as const;

export interface CommandEnd {
  /** 1 if it found something wrong; null after a kill. */
  code: number | null;
  json: Record<string, unknown>;
}

/** `killAfter`: sends SIGKILL so many milliseconds after the command has printed this step. */
export async function runCellsCommand(
  cells: readonly RunningCell[],
  args: readonly string[],
  killAfter?: { step: string; ms: number },
): Promise<CommandEnd> {
  const urls = cells.map(({ name, stores }) => `${name}=${stores.databaseUrl}`).join(' ');
  const child = spawn(process.execPath, [COMMAND, ...args, '--json'], {
    env: { PATH: process.env.PATH ?? '', CELL_URLS: urls },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const problems: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (piece) => {
    text += piece;
  });
  createInterface({ input: child.stderr }).on('line', (line) => {
    problems.push(line);
    if (killAfter?.step === line) setTimeout(() => child.kill('SIGKILL'), killAfter.ms);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === null) return { code, json: {} };
  if (!text.startsWith('{')) throw new Error(`cells ${args.join(' ')}: ${code}: ${problems.join(' ')}`);
  return { code, json: JSON.parse(text) as Record<string, unknown> };
}
