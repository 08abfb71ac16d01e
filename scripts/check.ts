import { dirname, join } from 'node:path';
import { advisories } from './checking/advisories.ts';
import { committedSecrets } from './checking/committed-secrets.ts';
import { installPolicyProblems } from './checking/install-policy.ts';
import { licenceProblems } from './checking/licences.ts';
import { lockfileProblems } from './checking/lockfile.ts';
import { portabilityProblems } from './checking/portable-files.ts';
import { root } from './launch/folders.mjs';
import { createSteps } from './launch/steps.mjs';
import { runProgram } from './services/run-program.ts';

// `npm run check`: everything that can be said about the code without running it. Every step runs, also after one that
// failed, and what failed is shown in full.

const LIMIT_MS = 5 * 60_000;
const AT_ONCE = 2;

interface Check {
  name: string;
  what: string;
  /** What is in `note` is said in place of `what`. */
  run(): Promise<{ ok: boolean; output: string; note?: string }>;
}

const CHECKS: Check[] = [
  { name: 'types', what: 'tsc', run: () => tool('typescript', 'tsc', '-p', '.') },
  {
    name: 'page scripts',
    what: 'tsc, with what a browser knows',
    run: () => tool('typescript', 'tsc', '-p', 'apps/gateway/src/pages/browser'),
  },
  {
    name: 'promises',
    what: 'oxlint with types',
    run: () => tool('oxlint', 'oxlint', '--type-aware', 'apps', 'packages', 'scripts'),
  },
  { name: 'unused', what: 'knip', run: () => tool('knip', 'knip', '--no-config-hints', '--no-progress') },
  { name: 'form', what: 'biome', run: () => tool('@biomejs/biome', 'biome', 'ci', '--colors=off', '.') },
  { name: 'licences', what: 'of everything that is shipped', run: async () => findings(licenceProblems(root)) },
  {
    name: 'portable',
    what: 'no paths or registries of one machine',
    run: async () => findings(portabilityProblems(root)),
  },
  {
    name: 'lockfile',
    what: 'every package by its hash, and by nothing else',
    run: async () => findings([...lockfileProblems(root), ...installPolicyProblems(root)]),
  },
  { name: 'secrets', what: 'none here, and none in any commit', run: async () => findings(committedSecrets(root)) },
  { name: 'advisories', what: 'none high or critical in what ships', run: knownVulnerabilities },
];

async function knownVulnerabilities() {
  const answer = await advisories(root);
  if (answer.kind === 'found') return findings(answer.sentences);
  const note = answer.kind === 'none' ? `none high or critical, ${answer.lesser} lesser` : `NOT CHECKED: ${answer.why}`;
  return { ok: true, output: '', note };
}

/** The tool's own program from its package, so that neither PATH nor a shell decides what runs. */
async function tool(packageName: string, program: string, ...args: string[]) {
  const folder = join(root, 'node_modules', packageName);
  const { default: manifest } = await import(join(folder, 'package.json'), { with: { type: 'json' } });
  const file = typeof manifest.bin === 'string' ? manifest.bin : manifest.bin[program];
  const { CI: _ci, NODE_OPTIONS: _options, ...env } = process.env;
  const path = `${dirname(process.execPath)}:${env.PATH ?? ''}`;
  const options = { cwd: root, env: { ...env, PATH: path, NO_COLOR: '1', FORCE_COLOR: undefined } };
  return runProgram(process.execPath, [join(folder, file), ...args], options, LIMIT_MS);
}

function findings(problems: string[]) {
  return { ok: problems.length === 0, output: problems.join('\n') };
}

const steps = createSteps(process.stdout);
const waiting = [...CHECKS];
const failed: { name: string; output: string }[] = [];

async function work(): Promise<void> {
  for (let check = waiting.shift(); check; check = waiting.shift()) {
    const step = steps.begin(check.name, check.what);
    const { ok, output, note } = await check.run();
    if (ok) step.done(note);
    else {
      step.failed();
      failed.push({ name: check.name, output });
    }
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, work));
for (const { name, output } of failed) console.log(`\n── ${name} ──\n${output.trim()}`);
if (failed.length > 0) console.log(`\n${failed.map(({ name }) => name).join(', ')} failed`);
process.exit(failed.length > 0 ? 1 : 0);
