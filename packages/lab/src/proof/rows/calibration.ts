import type { ProofRow } from '../proof-row.ts';
import { EVIDENCE } from './paths.ts';

/** Whether stated confidence proves right, and what is learned about models. */
export const CALIBRATION: readonly ProofRow[] = [
  {
    id: 'cheapest-first',
    says: 'Asking the cheapest models first saves money, and the track record keeps it safe',
    target:
      'for panels of 7, 9 and 12 models (R7 / R9 / R12): dollars saved within a point of 49.5 / 54.4 / 56.9 %, wrong stops at most .9 / 2.2 / 2.2 %, expected calibration error (ECE) at most .010',
    command:
      '`npm run replay -- --votes VOTES --prices PRICES --order cheapest --record VOTES`; `npm test -- packages/voting/test/recorded-decisions.test.ts`',
    covers: EVIDENCE,
  },
  {
    id: 'published',
    says: 'The published calibration is true for live operation',
    target:
      'published intervals contain the true value in at least 93 % of bands, over 100,000 polls in which the gate opens, models get worse and the domain of questions changes',
    command: '`npm run replay -- --votes VOTES --prices PRICES --live 100000`',
    covers: EVIDENCE,
  },
  {
    id: 'lying-record',
    says: 'A wrong track record makes polls longer, never shorter',
    target: 'with a stale, poisoned or empty record, the exact calculation alone would have allowed every stop too',
    command: '`npm test -- packages/voting/test/track-record.test.ts apps/worker/test`',
    covers: ['packages/voting/src', 'apps/worker/src'],
  },
  {
    id: 'decision-time',
    says: 'Decisions and audits cost callers no time',
    target:
      'p99 of one decision with track record and odds at most 1 ms (10 options, 20 seats); p95 of polls with audits at most 1.05 x that without audits',
    command: '`npm run bench -- --only decision`, `npm run bench -- --only audits`',
    covers: ['packages/voting/src', 'apps/worker/src'],
  },
  {
    id: 'reading',
    says: 'The reading is as good as the study says',
    target: "within the study's intervals, compared with the best model and with the plurality",
    command: '`npm run panel -- --votes VOTES --prices PRICES`',
    covers: EVIDENCE,
    short: {
      tried:
        "R7 gains .7 points over the plurality (.3 to 1.1), where the study has 1.2. Even weights by the models' true accuracies gain only .95 on these questions, which are half of the study's",
      takes: "the other half of the study's questions, or another study; no change of the code",
    },
  },
  {
    id: 'broken-model',
    says: 'A broken model is taken out of its panels; a sound model stays',
    target:
      'a broken model is taken out within a day of tests; a model that fails exactly as often as allowed is taken out in at most one of twenty months',
    command: '`npm test -- packages/evidence/test/model-standing.test.ts apps/worker/test/test-models.test.ts`',
    covers: ['packages/evidence/src', 'apps/worker/src'],
  },
];
