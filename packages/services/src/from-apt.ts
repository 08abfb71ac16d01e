import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lock } from '@eloquentpoll/launch/lock';
import { runProgram } from './run-program.ts';

// Takes a program from the Debian or Ubuntu archive that this machine already trusts, without root and without
// installing anything: package lists, downloads and the unpacked copy stay in our own folder. apt checks signatures and
// determines which libraries the machine lacks.

const STEP_MS = 120_000;
/** apt checks signatures with programs of the system, which may be missing from a short PATH. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const DEBIAN_KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** True if a copy is in `target` afterwards. Uses the first of `choices` that the archive has. */
export function fetchWithApt(
  target: string,
  choices: readonly (readonly string[])[],
  callers: NodeJS.ProcessEnv,
): Promise<boolean> {
  return unpacked(target, callers, null, async (apt) => {
    for (const packages of choices)
      if (await apt('install', '--yes', '--download-only', '--reinstall', ...packages)) return true;
    return false;
  });
}

/**
 * The same from another release of this machine's Debian, whose keys it also has: exactly these packages, including the
 * C library for which they were built.
 */
export async function fetchFromRelease(
  target: string,
  release: string,
  packages: readonly string[],
  callers: NodeJS.ProcessEnv,
): Promise<boolean> {
  const archive = await debianArchive(callers);
  if (!archive) return false;
  return unpacked(target, callers, `${archive} ${release} main`, (apt) => apt('download', ...packages));
}

type Apt = (...args: string[]) => Promise<boolean>;

/** One process at a time: if two start in a fresh clone, the second uses the copy that the first has fetched. */
async function unpacked(...[target, ...how]: Parameters<typeof unpack>): Promise<boolean> {
  let waited = false;
  const release = await lock(`${target}.lock`, { onWait: () => (waited = true) });
  try {
    return (waited && existsSync(target)) || (await unpack(target, ...how));
  } finally {
    release();
  }
}

async function unpack(
  target: string,
  callers: NodeJS.ProcessEnv,
  source: string | null,
  download: (apt: Apt) => Promise<boolean>,
): Promise<boolean> {
  const env = { ...callers, PATH: `${callers.PATH}:${SYSTEM_PATH}` };
  const work = `${target}.new`;
  rmSync(work, { recursive: true, force: true });
  try {
    const apt = aptFor(work, env, source);
    if (!(await apt('update')) || !(await download(apt))) return false;
    const archives = join(work, 'archives');
    for (const file of readdirSync(archives).filter((name) => name.endsWith('.deb')))
      await runProgram('dpkg', ['-x', join(archives, file), join(work, 'root')], { env }, STEP_MS);
    rmSync(target, { recursive: true, force: true });
    renameSync(join(work, 'root'), target);
    return true;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The archive of this machine's own Debian packages; null for other systems. */
async function debianArchive(env: NodeJS.ProcessEnv): Promise<string | null> {
  const { ok, output } = await runProgram('apt-get', ['indextargets', '--format', '$(REPO_URI)'], { env }, STEP_MS);
  return (ok && output.split('\n').find((uri) => /\/debian\/?$/.test(uri))) || null;
}

// The machine's own hooks (cleaning caches, notifying) are meant for its own installations, so they are disabled.
function aptFor(work: string, env: NodeJS.ProcessEnv, source: string | null): Apt {
  for (const folder of ['lists/partial', 'archives/partial', 'root'])
    mkdirSync(join(work, folder), { recursive: true });
  const [configuration, sources] = [join(work, 'apt.conf'), join(work, 'sources.list')];
  if (source) writeFileSync(sources, `deb [signed-by=${DEBIAN_KEYS}] ${source}\n`);
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
      ...(source ? [`Dir::Etc::sourcelist "${sources}";`, 'Dir::Etc::sourceparts "/dev/null";'] : []),
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
  // `download` saves files in the working folder.
  const how = { env: aptEnv, cwd: join(work, 'archives') };
  return async (...args) => (await runProgram('apt-get', ['--quiet', ...args], how, STEP_MS)).ok;
}
