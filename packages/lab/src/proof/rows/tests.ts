import { AREAS, type Area } from '../../mutate/areas.ts';
import { asPercent } from '../../terminal/table.ts';
import { LONGER, type Mend, noneOf, type ProofRow } from '../proof-row.ts';
import { VOTING } from './paths.ts';

/** Tests that were written for what a part of the mutants had shown. */
const TESTED_SINCE: Readonly<Record<string, Mend>> = {
  webhooks: {
    at: '2026-11-24T16:00:00.000Z',
    what: 'tests of where a message may go, how places are shared, events taken up and delays counted were missing',
  },
};

function mutantsOf({ name, files, functions = [], maxSurviving }: Area): ProofRow {
  return {
    id: `T35-${name}`,
    says: `Tests notice small wrong changes: ${name}`,
    target: `at most ${asPercent(maxSurviving, 0)} survive`,
    command: `\`npm run mutate -- --area ${name} --continue docs/proofs/runs.jsonl\`; in parts: \`--part 1/8\``,
    covers: [...files, ...functions.map((sql) => `packages/storage/sql/${sql}.sql`)],
    experiments: [`mutate ${name}`],
    rate: { failures: ['survivors'], of: 'mutants', atMost: maxSurviving },
    ...(TESTED_SINCE[name] && { mended: TESTED_SINCE[name] }),
    short: { tried: 'parts of all mutants, on two shared cores', takes: LONGER },
  };
}

/** Code that is run in every way there is, and tests that are tested. */
export const TESTS: readonly ProofRow[] = [
  {
    id: 'T33',
    says: 'Whole workers keep every promise in bad weather, in virtual time',
    target: '0 violations in 10,000 worlds',
    command: '`npm run simulate -- --seeds 60000 --continue docs/proofs/runs.jsonl`',
    covers: ['apps/worker/src', 'packages/polls/src', ...VOTING, 'packages/lab/src/simulate'],
    experiments: ['simulate worlds'],
    ...noneOf('violations', 10_000, 'worlds'),
  },
  {
    id: 'T34',
    says: 'A fault at each step of a poll of three models, and at every two',
    target: 'all, 0 violations',
    command: '`npm run simulate -- --crash-points --continue docs/proofs/runs.jsonl`',
    covers: ['apps/worker/src', 'packages/polls/src', ...VOTING, 'packages/lab/src/simulate'],
    experiments: ['simulate crash points'],
    rate: { failures: ['violations'], of: 'points and pairs' },
  },
  {
    id: 'T32',
    says: 'A lock is what no completion can undo',
    target: 'all states of up to 8 models and 4 options',
    command: '`npm test -- packages/voting/test/mathematical-lock.test.ts`',
    covers: ['packages/voting/src'],
  },
  ...AREAS.map(mutantsOf),
  {
    id: 'T36',
    says: 'No grave advisory, no package younger than a week',
    target: '0; 0',
    command: '`npm run check`',
    covers: ['pnpm-lock.yaml', 'pnpm-workspace.yaml'],
    short: {
      tried:
        'the check asks the registry, which could be reached and serves no advisories; it says so and does not count that as none',
      takes: 'a registry with advisories',
    },
  },
];
