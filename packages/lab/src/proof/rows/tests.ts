import { AREAS, type Area } from '../../mutate/areas.ts';
import { asPercent } from '../../terminal/table.ts';
import { LONGER, noneOf, type ProofRow } from '../proof-row.ts';
import { VOTING } from './paths.ts';

const MENDED: Readonly<Record<string, ProofRow['mended']>> = {
  'ledger-sql': {
    at: '2026-11-29T10:10:00.000Z',
    what: 'the tests of audits, batches, webhooks, usage, limits and the order of locks count for the area, and end_poll, accept_poll and top_up_pool have new ones; changes that nothing can show are named',
  },
};

function mutantsOf({ name, files, functions = [], maxSurviving }: Area): ProofRow {
  return {
    id: `T35-${name}`,
    says: `Tests detect small wrong changes: ${name}`,
    target: `at most ${asPercent(maxSurviving, 0)} of the mutants survive`,
    command: `\`npm run mutate -- --area ${name} --continue docs/proofs/runs.jsonl\`; in parts: \`--part 1/8\``,
    covers: [...files, ...functions.map((sql) => `packages/storage/sql/${sql}.sql`)],
    experiments: [`mutate ${name}`],
    rate: { failures: ['survivors'], of: 'mutants', atMost: maxSurviving },
    ...(MENDED[name] && { mended: MENDED[name] }),
    short: { tried: 'a part of the mutants, on two shared cores', takes: LONGER },
  };
}

/** Exhaustive and simulated runs, and tests of the tests. */
export const TESTS: readonly ProofRow[] = [
  {
    id: 'T33',
    says: 'Complete workers in virtual time keep every promise under random faults',
    target: '0 violations in 10,000 simulated worlds',
    command: '`npm run simulate -- --seeds 60000 --continue docs/proofs/runs.jsonl`',
    covers: ['apps/worker/src', 'packages/polls/src', ...VOTING, 'packages/lab/src/simulate'],
    experiments: ['simulate worlds'],
    ...noneOf('violations', 10_000, 'worlds'),
  },
  {
    id: 'T34',
    says: 'A fault at each step of a poll of three models, and at every pair of steps, breaks nothing',
    target: 'all steps and pairs, 0 violations',
    command: '`npm run simulate -- --crash-points --continue docs/proofs/runs.jsonl`',
    covers: ['apps/worker/src', 'packages/polls/src', ...VOTING, 'packages/lab/src/simulate'],
    experiments: ['simulate crash points'],
    rate: { failures: ['violations'], of: 'points and pairs' },
  },
  {
    id: 'T32',
    says: 'A locked outcome cannot be changed by any remaining votes',
    target: 'all states of up to 8 models and 4 options',
    command: '`npm test -- packages/voting/test/mathematical-lock.test.ts`',
    covers: ['packages/voting/src'],
  },
  ...AREAS.map(mutantsOf),
  {
    id: 'T36',
    says: 'No serious security advisory, no package younger than a week',
    target: '0; 0',
    command: '`npm run check`',
    covers: ['pnpm-lock.yaml', 'pnpm-workspace.yaml'],
    short: {
      tried:
        'the registry could be reached but serves no advisories; the check reports this and does not count it as none',
      takes: 'a registry that serves advisories',
    },
  },
];
