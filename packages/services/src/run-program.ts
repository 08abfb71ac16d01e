import { type SpawnOptions, spawn } from 'node:child_process';

export interface ProgramOutcome {
  ok: boolean;
  output: string;
}

const KEPT_CHARACTERS = 16_000;

/** Runs a program that ends by itself, without blocking anything else. Never rejects, never outlasts its time limit. */
export function runProgram(
  file: string,
  args: readonly string[],
  options: SpawnOptions,
  limit_ms: number,
): Promise<ProgramOutcome> {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    const add = (text: Buffer) => {
      output = (output + text.toString('utf8')).slice(-KEPT_CHARACTERS);
    };
    child.stdout?.on('data', add);
    child.stderr?.on('data', add);
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    const timer = setTimeout(kill, limit_ms);
    const end = (outcome: ProgramOutcome) => {
      clearTimeout(timer);
      process.off('exit', kill);
      resolve(outcome);
    };
    child.once('error', (error) => end({ ok: false, output: error.message }));
    child.once('close', (code) => end({ ok: code === 0, output }));
  });
}
