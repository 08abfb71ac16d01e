import { root } from '@eloquentpoll/launch/folders';
import { advisories } from './advisories.ts';
import { committedSecrets } from './committed-secrets.ts';
import { decisionProblems } from './decisions.ts';
import { emptyPatterns } from './empty-patterns.ts';
import { ambiguousNames } from './exported-names.ts';
import { upwardImports } from './gateway-arrows.ts';
import { installPolicyProblems } from './install-policy.ts';
import { licenceProblems } from './licences.ts';
import { lockfileProblems } from './lockfile.ts';
import { portabilityProblems } from './portable-files.ts';
import { stalePrices } from './roster-prices.ts';
import { runTool } from './run-tool.ts';
import { versionProblems } from './versions.ts';
import { findWords } from './words.ts';

export interface CheckResult {
  ok: boolean;
  output: string;
  /** Shown instead of `what`. */
  note?: string;
}

export interface RepositoryCheck {
  name: string;
  what: string;
  run(): Promise<CheckResult>;
}

/** The checks of `npm run check`, slow ones first. */
export const CHECKS: readonly RepositoryCheck[] = [
  {
    name: 'promises',
    what: 'oxlint with types',
    run: () => runTool('oxlint', 'oxlint', '--type-aware', 'apps', 'packages', 'scripts'),
  },
  { name: 'types', what: 'tsc', run: () => runTool('typescript', 'tsc', '-p', '.') },
  {
    name: 'page-scripts',
    what: 'tsc, with the types of a browser',
    run: () => runTool('typescript', 'tsc', '-p', 'apps/gateway/src/pages/browser'),
  },
  { name: 'unused', what: 'knip', run: () => runTool('knip', 'knip', '--no-config-hints', '--no-progress') },
  { name: 'format', what: 'biome', run: () => runTool('@biomejs/biome', 'biome', 'ci', '--colors=off', '.') },
  { name: 'words', what: 'plain English, see STYLE.md', run: async () => findings(findWords(root)) },
  {
    name: 'names',
    what: 'an exported name means one thing',
    run: async () => findings(ambiguousNames(root)),
  },
  {
    name: 'arrows',
    what: 'no folder of the gateway imports its top files',
    run: async () => findings(upwardImports(root)),
  },
  {
    name: 'patterns',
    what: 'no pattern of a test accepts any list',
    run: async () => findings(emptyPatterns(root)),
  },
  { name: 'licences', what: 'of everything that is shipped', run: async () => findings(licenceProblems(root)) },
  {
    name: 'portable',
    what: 'no paths or registries of one machine',
    run: async () => findings(portabilityProblems(root)),
  },
  {
    name: 'lockfile',
    what: 'every package pinned by its hash',
    run: async () => findings([...lockfileProblems(root), ...installPolicyProblems(root)]),
  },
  { name: 'decisions', what: 'the index names each decision', run: async () => findings(decisionProblems(root)) },
  {
    name: 'prices',
    what: 'of the ready rosters, read within a year',
    run: async () => findings(stalePrices(root, Date.now())),
  },
  { name: 'versions', what: 'one version, and its changes', run: async () => findings(versionProblems(root)) },
  { name: 'secrets', what: 'none here, and none in any commit', run: async () => findings(committedSecrets(root)) },
  { name: 'advisories', what: 'none high or critical in what ships', run: knownVulnerabilities },
];

async function knownVulnerabilities(): Promise<CheckResult> {
  const answer = await advisories(root);
  if (answer.kind === 'found') return findings(answer.sentences);
  const note = answer.kind === 'none' ? `none high or critical, ${answer.lesser} lesser` : `NOT CHECKED: ${answer.why}`;
  return { ok: true, output: '', note };
}

function findings(problems: string[]): CheckResult {
  return { ok: problems.length === 0, output: problems.join('\n') };
}
