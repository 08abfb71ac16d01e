import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from './run-program.ts';

// Takes a program out of the Debian or Ubuntu archive that this machine already trusts, without root and without
// installing anything: package lists, downloads and the unpacked copy stay in our own folder. apt works out which
// libraries the machine lacks and checks signatures.

const STEP_MS = 120_000;
/** apt checks signatures with programs of its own system, which a short PATH may not name. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Whether a copy is now in `target`. The first of `choices` that the archive has is taken. */
export async function fetchWithApt(
  target: string,
  choices: readonly (readonly string[])[],
  callers: NodeJS.ProcessEnv,
): Promise<boolean> {
  const env = { ...callers, PATH: `${callers.PATH}:${SYSTEM_PATH}` };
  const work = `${target}.new`;
  rmSync(work, { recursive: true, force: true });
  try {
    const apt = aptFor(work, env);
    if (!(await apt('update'))) return false;
    for (const packages of choices) {
      if (!(await apt('install', '--yes', '--download-only', '--reinstall', ...packages))) continue;
      const archives = join(work, 'archives');
      for (const file of readdirSync(archives).filter((name) => name.endsWith('.deb')))
        await runProgram('dpkg', ['-x', join(archives, file), join(work, 'root')], { env }, STEP_MS);
      rmSync(target, { recursive: true, force: true });
      renameSync(join(work, 'root'), target);
      return true;
    }
    return false;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

// The machine's own hooks (cleaning caches, notifying) belong to its own installations and are cleared.
function aptFor(work: string, env: NodeJS.ProcessEnv): (...args: string[]) => Promise<boolean> {
  for (const folder of ['lists/partial', 'archives/partial', 'root'])
    mkdirSync(join(work, folder), { recursive: true });
  const configuration = join(work, 'apt.conf');
  writeFileSync(
    configuration,
    [
      '#clear APT::Update::Post-Invoke;',
      '#clear APT::Update::Post-Invoke-Success;',
      '#clear DPkg::Post-Invoke;',
      '#clear DPkg::Pre-Install-Pkgs;',
      `Dir::State::lists "${join(work, 'lists')}";`,
      `Dir::State::extended_states "${join(work, 'extended_states')}";`,
      `Dir::Cache "${work}";`,
      `Dir::Cache::archives "${join(work, 'archives')}";`,
      'Debug::NoLocking "true";',
      'APT::Sandbox::User "root";',
      'APT::Install-Recommends "false";',
      'APT::Keep-Downloaded-Packages "true";',
      'Acquire::Languages "none";',
      'Acquire::Retries "2";',
      'Acquire::http::Timeout "20";',
    ].join('\n'),
  );
  const aptEnv = { ...env, APT_CONFIG: configuration, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
  return async (...args) => (await runProgram('apt-get', ['--quiet', ...args], { env: aptEnv }, STEP_MS)).ok;
}
