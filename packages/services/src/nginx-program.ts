import { join } from 'node:path';
import { Failure } from '@eloquentpoll/launch/failure';
import { toolsFolder } from '@eloquentpoll/launch/folders';
import { fetchWithApt } from './from-apt.ts';
import { installedProgram, type Program, unpackedProgram } from './program.ts';

// Finds an nginx: an installed one, the copy of an earlier run, or one fetched from the system's package archive.

const NGINX = {
  names: ['nginx'],
  versionFlag: '-v',
  readVersion: (output: string) => /nginx\/(\d+\.\d+\.\d+)/.exec(output)?.[1] ?? null,
};

export async function findNginx(env: NodeJS.ProcessEnv, tools: string = toolsFolder): Promise<Program> {
  const kept = join(tools, 'nginx');
  return (
    (await installedProgram(NGINX, env)) ??
    (await unpackedProgram(NGINX, kept)) ??
    ((await fetchWithApt(kept, [['nginx'], ['nginx-light']], env)) ? await unpackedProgram(NGINX, kept) : null) ??
    refuse()
  );
}

function refuse(): never {
  throw new Failure('There is no nginx here and none could be fetched: install nginx.');
}
