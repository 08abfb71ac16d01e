import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { requireSpace, toolsFolder } from '@eloquentpoll/launch/folders';
import { installExactly } from '@eloquentpoll/launch/npm';

// The other runtimes that the published client supports, downloaded from npm: exact versions, verified by hash, kept in
// .tools. All are MIT-licensed. A platform gets those that npm offers for it.

interface Runtime {
  name: string;
  package: string;
  version: string;
  hash: string;
  file: string;
}

const RUNTIMES: Readonly<Record<string, readonly Runtime[]>> = {
  'linux-x64': [
    node(
      'linux-x64',
      '20.20.2',
      'PeHQM8wAdmHtZA1mBocygZxs5LiUWtsJezQTkBd0iY987KpGrD1O2tVEydvMZiuXceRanxt7rjTnDEBwOPujoQ==',
    ),
    node(
      'linux-x64',
      '22.23.3',
      'qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
    ),
    {
      name: 'deno',
      package: '@deno/linux-x64-glibc',
      version: '2.9.6',
      hash: 'sha512-3md4TKLCuzsLDmfOoC5KN7NAZaxSVkMgm64vg6foD00JBADCpYS2/5QqXfzgnP5ZQz3iLP9vBQJtEgc116OAoQ==',
      file: 'deno',
    },
    {
      name: 'bun',
      package: '@oven/bun-linux-x64-baseline',
      version: '1.4.4',
      hash: 'sha512-FBU6T21NT+i+rESbi0Z8A8G5xN51c+WZ0v6pIjI6szSzOlqVNv64nf7FPnwNIyxKD1M7Wg5cEobLC/QbzCeLtA==',
      file: 'bin/bun',
    },
  ],
  'linux-arm64': [
    node(
      'linux-arm64',
      '20.20.2',
      'LCXJnNTFiyGuYBw2gZSI5OBFMbkjAPt8sqD/NKrWoE2QmDgSubTqFng6GaNJ9EJ8HpxBMGcWWpbbcs4Vo+CnGg==',
    ),
    node(
      'linux-arm64',
      '22.23.3',
      'l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
    ),
  ],
};

function node(platform: string, version: string, sha512: string): Runtime {
  const name = `node${version.split('.')[0]}`;
  return { name, package: `node-${platform}`, version, hash: `sha512-${sha512}`, file: 'bin/node' };
}

/** Programs by name: `node20`, `node22`, `deno`, `bun`. */
export async function bringRuntimes(kept: string = join(toolsFolder, 'runtimes')): Promise<Map<string, string>> {
  const programs = new Map<string, string>();
  for (const runtime of RUNTIMES[`${process.platform}-${process.arch}`] ?? [])
    programs.set(runtime.name, await keptCopy(runtime, join(kept, `${runtime.name}-${runtime.version}`)));
  return programs;
}

/** Keeps only the program from its package. */
async function keptCopy(runtime: Runtime, program: string): Promise<string> {
  if (existsSync(program)) return program;
  const { package: name } = runtime;
  const work = `${program}.${process.pid}.new`;
  mkdirSync(work, { recursive: true });
  try {
    requireSpace(work, 400, `${runtime.name} ${runtime.version} for tests of the client`);
    const sentence = `npm could not bring ${name} ${runtime.version}, in which the client is tested.`;
    await installExactly(work, { [name]: runtime }, { log: 'runtimes', sentence });
    renameSync(join(work, 'node_modules', name, runtime.file), program);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return program;
}
