import { LONGER, noneOf, type ProofRow } from '../proof-row.ts';
import { LEDGER, RUNNING, VOTING } from './paths.ts';

/** Holds, charges and the ledger. */
export const MONEY: readonly ProofRow[] = [
  {
    id: 'T7',
    says: 'The ledger has no drift',
    target: '0 micro-USD over 1,000,000 operations',
    command: '`TEST_SEED=2026 ATTACKS=full npm test -- --timeout=3400 packages/storage/test/ledger-model.test.ts`',
    covers: LEDGER,
    ...noneOf('micro-USD of drift', 1_000_000, 'operations'),
  },
  {
    id: 'ledger-check',
    says: "The ledger's check keeps up with its growth",
    target: 'one check takes at most 2 s at 10 million polls, and does not slow down holds and captures',
    command: '`npm run books -- --polls 10000000 --days 100 --thin`; shorter: `packages/lab/test/books.test.ts`',
    covers: LEDGER,
  },
  {
    id: 'T8',
    says: 'Simultaneous polls do not overspend',
    target: '0 of 10,000 races of 200 polls for one balance',
    command:
      '`npm run attack -- --only races --continue docs/proofs/runs.jsonl`; shorter: `packages/lab/test/balance-races.test.ts`',
    covers: LEDGER,
    experiments: ['attack races'],
    ...noneOf('races that overspent', 10_000, 'races'),
    beside: ['races through gateways'],
    short: { tried: 'a thousand races in five minutes on two shared cores', takes: LONGER },
  },
  {
    id: 'T9',
    says: 'Captured is at most what is held, held is at most `max_cost_usd`',
    target: '0 of 1,000,000 polls',
    command: '`npm run simulate -- --polls 1000000 --continue docs/proofs/runs.jsonl`',
    covers: ['apps/worker/src', 'packages/polls/src', ...VOTING],
    experiments: ['simulate polls'],
    ...noneOf('violations', 1_000_000, 'polls'),
  },
  {
    id: 'T11/T12/T17/T18',
    says: 'Payments, payment proofs and nonces count only once; revoked keys never',
    target:
      '10,000 events of card payments, 10,000 uses of payment proofs, 1,000 nonces in 100 requests each, 10,000 uses of revoked keys',
    command:
      '`ATTACKS=full npm test -- --timeout=3400 apps/gateway/test/attacks/repeated-use.test.ts apps/gateway/test/payments/deposit-attacks.test.ts`',
    covers: ['apps/gateway/src/payments', 'apps/gateway/src/accounts', ...LEDGER],
  },
  {
    id: 'T21',
    says: 'Free polls cost at most their daily cap',
    target: '0 above the cap, with requests from 10,000 addresses',
    command: '`ATTACKS=full npm test -- --timeout=3600 packages/lab/test/free-flood.test.ts`',
    covers: ['apps/gateway/src/polls', ...LEDGER],
  },
  {
    id: 'abuse',
    says: 'A night of abuse costs no more than the settings allow',
    target:
      'provider cost minus billed never exceeds the allowances and the ceiling, the alarm fires, and no other poll is affected',
    command:
      '`npm run attack -- --only abuse --continue docs/proofs/runs.jsonl`; shorter: `packages/lab/test/abuse.test.ts`',
    covers: [...RUNNING, 'apps/gateway/src/polls', 'packages/models/src'],
    experiments: ['attack abuse'],
  },
  {
    id: 'receipts',
    says: 'Genuine receipts verify offline, and forged ones do not',
    target: '10,000 verified offline; 1,000 forged ones refused, each because of the forged part',
    command:
      '`npm run receipts -- --seed 17`; shorter: `packages/lab/test/receipts.test.ts`; with a whole service: `packages/lab/test/receipts-of-service.test.ts`',
    covers: ['packages/receipts/src', 'packages/polls/src', 'packages/voting/src'],
  },
];
