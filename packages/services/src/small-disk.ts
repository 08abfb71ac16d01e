import { chmodSync, chownSync, mkdirSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from './run-program.ts';

// A disk in memory under one folder, small enough for an experiment to fill it. Only root can mount one, and only if
// this is allowed on the machine.

export interface SmallDisk {
  fill(): Promise<void>;
  free(): void;
  unmount(): Promise<void>;
}

const SIZE = '1g';
const LIMIT_MS = 60_000;

/** Moves the content of an unused folder onto the disk. Null if none can be mounted. */
export async function putOnSmallDisk(folder: string): Promise<SmallDisk | null> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null;
  const aside = `${folder}.aside`;
  const { uid, gid } = statSync(folder);
  renameSync(folder, aside);
  mkdirSync(folder);
  const mounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', folder]);
  if (!mounted || !(await run('cp', ['-a', `${aside}/.`, folder]))) {
    if (mounted) await run('umount', [folder]);
    rmSync(folder, { recursive: true });
    renameSync(aside, folder);
    return null;
  }
  chmodSync(folder, 0o700);
  chownSync(folder, uid, gid);
  rmSync(aside, { recursive: true });
  const filler = join(folder, 'filler');
  return {
    async fill() {
      const { bavail, bsize } = statfsSync(folder);
      await run('fallocate', ['-l', String(bavail * bsize), filler]);
    },
    free: () => rmSync(filler, { force: true }),
    async unmount() {
      await run('umount', ['-l', folder]);
    },
  };
}

const run = async (program: string, args: string[]): Promise<boolean> =>
  (await runProgram(program, args, {}, LIMIT_MS)).ok;
