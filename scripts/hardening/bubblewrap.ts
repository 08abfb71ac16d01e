import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Failure } from '@eloquentpoll/launch/failure';
import { toolsFolder } from '@eloquentpoll/launch/folders';
import { fetchWithApt } from '@eloquentpoll/services/from-apt';
import { runProgram } from '@eloquentpoll/services/run-program';

// Finds bubblewrap: on the PATH, in the copy of an earlier run, or in the system's package archive.

export async function findBubblewrap(env: NodeJS.ProcessEnv): Promise<string> {
  for (const folder of (env.PATH ?? '').split(delimiter).filter(Boolean))
    if (await works(join(folder, 'bwrap'))) return join(folder, 'bwrap');
  const copy = join(toolsFolder, 'bubblewrap');
  const kept = join(copy, 'usr/bin/bwrap');
  if ((await works(kept)) || ((await fetchWithApt(copy, [['bubblewrap']], env)) && (await works(kept)))) return kept;
  throw new Failure(
    'There is no bubblewrap here that can make a sandbox, and none could be fetched: install bubblewrap, and allow user ' +
      'namespaces where the system forbids them.',
  );
}

/** Whether it is installed and permitted to create namespaces. */
async function works(file: string): Promise<boolean> {
  if (!existsSync(file)) return false;
  const args = ['--unshare-all', '--ro-bind', '/', '/', '--', '/bin/true'];
  return (await runProgram(file, args, {}, 10_000)).ok;
}
