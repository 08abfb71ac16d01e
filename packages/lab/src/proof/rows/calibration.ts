import type { ProofRow } from '../proof-row.ts';
import { EVIDENCE } from './paths.ts';

/** What confidence is worth, and the models that it is made of. */
export const CALIBRATION: readonly ProofRow[] = [
  {
    id: 'cheapest-first',
    says: 'Asking the cheapest models first saves dollars, and the track record keeps it safe',
    target:
      'dollars saved within a point of 49.5 / 54.4 / 56.9 %, wrong stops at most .9 / 2.2 / 2.2 %, ECE at most .010 (R7 / R9 / R12)',
    command:
      '`npm run replay -- --votes VOTES --prices PRICES --order cheapest --record VOTES`; `packages/voting/test/recorded-decisions.test.ts`',
    covers: EVIDENCE,
  },
  {
    id: 'published',
    says: 'What is published about confidence is true of live operation',
    target:
      'published intervals cover the truth in 93 % of bands or more, over 100,000 polls in which the gate opens, models turn bad and the domain of questions changes',
    command: '`npm run replay -- --votes VOTES --prices PRICES --live 100000`',
    covers: EVIDENCE,
  },
  {
    id: 'lying-record',
    says: 'A track record that lies makes polls longer, never shorter',
    target: 'stale, poisoned or empty: every stop is one that the exact calculation allows too',
    command: '`packages/voting/test/track-record.test.ts`, `apps/worker/test`',
    covers: ['packages/voting/src', 'apps/worker/src'],
  },
  {
    id: 'decision-time',
    says: 'Decisions and audits cost callers no time',
    target:
      'p99 of one decision with record and odds at most 1 ms (10 options, 20 seats); p95 of polls with audits at most 1.05 x of without',
    command: '`npm run bench -- --only decision`, `npm run bench -- --only audits`',
    covers: ['packages/voting/src', 'apps/worker/src'],
  },
  {
    id: 'reading',
    says: 'The second reading is worth what the study says',
    target: "the study's intervals against the best member and the plurality",
    command: '`npm run panel -- --votes VOTES --prices PRICES`',
    covers: EVIDENCE,
    short: {
      tried: "even the models' true accuracies as weights give +.95 on this half of the questions",
      takes: 'nothing that is ours: the other half of the questions, or another study',
    },
  },
  {
    id: 'broken-model',
    says: 'A model that breaks leaves its panels; a sound one stays',
    target:
      'a broken model is out within a day of tests; one that fails exactly as often as it may is out in at most one of twenty months',
    command: '`packages/evidence/test/model-standing.test.ts`, `apps/worker/test/test-models.test.ts`',
    covers: ['packages/evidence/src', 'apps/worker/src'],
  },
];
