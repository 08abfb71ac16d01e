import { noneOf, type ProofRow } from '../proof-row.ts';
import { KEYS, STREAMS } from './paths.ts';

const GATEWAY = ['apps/gateway/src'];

/** What callers can count on, and what attackers cannot. */
export const CALLERS: readonly ProofRow[] = [
  {
    id: 'T14/T15',
    says: 'No unexpected answer, none of another shape',
    target: '0 of 100,000; each operation 1,000',
    command: '`npm run fuzz -- --continue docs/proofs/runs.jsonl`',
    covers: [...GATEWAY, 'packages/contracts/src'],
    experiments: ['fuzz'],
    rate: { failures: ['unexpected answers'], of: 'inputs' },
    needs: [
      { what: 'inputs', atLeast: 100_000 },
      { what: 'inputs per operation', atLeast: 1_000 },
    ],
  },
  {
    id: 'T14-memory',
    says: 'Requests that use what earlier answers gave get the right answer, over all operations',
    target: '0 unexpected, 0 of another shape, 0 secrets in 1,000,000 requests',
    command: '`npm run fuzz -- --memory --requests 1000000 --continue docs/proofs/runs.jsonl`',
    covers: [...GATEWAY, 'packages/contracts/src'],
    experiments: ['fuzz memory'],
    rate: { failures: ['unexpected answers', 'secrets in answers'], of: 'requests' },
    needs: [{ what: 'requests', atLeast: 1_000_000 }],
    short: {
      tried:
        'runs of 217,000, 265,000 and 693,000 requests (300 a second) on 2026-11-24, each ended at what it had found and not counted: `GET /api/usage` did not declare `invalid_preset`, a row of a batch whose `custom_id` held NUL was a 500; five kinds more were mistakes of the judge. All are mended',
      takes: 'an hour of a quiet machine on the mended code, in one piece or in many',
    },
  },
  {
    id: 'T30',
    says: 'No secret in logs, errors, or a stolen database',
    target: '0',
    command:
      '`npm run fuzz -- --continue docs/proofs/runs.jsonl`; `npm test -- apps/gateway/test/attacks/secrets.test.ts`',
    covers: GATEWAY,
    experiments: ['fuzz', 'fuzz memory'],
    rate: { failures: ['log lines with a secret'], of: 'log lines' },
  },
  {
    id: 'T16',
    says: 'Foreign ids open nothing',
    target: '0 leaks',
    command: '`npm test -- apps/gateway/test/attacks/foreign-ids.test.ts`',
    covers: GATEWAY,
  },
  {
    id: 'T19',
    says: 'Nothing forged by a flipped bit is taken',
    target: '0 of all flips of 100 samples',
    command: 'full, `attacks/flipped-bits`',
    covers: [...KEYS, 'apps/gateway/src/payments'],
    rate: { failures: ['taken'], of: 'forgeries' },
  },
  {
    id: 'T20',
    says: 'Unknown, revoked and nearly right keys take as long',
    target: '< 50 us apart, p > 0.01, 100,000 samples',
    command: '`npm run attack -- --only timing --continue docs/proofs/runs.jsonl`',
    covers: [...KEYS, 'packages/storage/src/api-keys.ts', 'packages/storage/src/migrations/0021-key-hashes.ts'],
    experiments: ['attack timing'],
    mended: {
      at: '2026-11-24T15:40:00.000Z',
      what: 'the look-up of a revoked key read its row (4 us in Postgres), and for two minutes the mark of its revocation in Redis (4 to 8 us). Neither is read now (0056)',
    },
  },
  {
    id: 'T22',
    says: 'X-Forwarded-For makes no new caller',
    target: '1 bucket over 10,000 headers',
    command: 'full, `attacks/forwarded-for`',
    covers: ['apps/gateway/src/http', 'apps/gateway/src/config'],
  },
  {
    id: 'webhooks',
    says: 'Webhooks come where receivers are sound, whatever the others do',
    target:
      'all of 3,000 to healthy receivers, of 10,000 beside slow, dead, redirecting, private and 410 ones; p95 5 s',
    command:
      '`npm run attack -- --only webhooks --continue docs/proofs/runs.jsonl`; shorter: `packages/lab/test/webhooks.test.ts`',
    covers: ['packages/webhooks/src', 'apps/worker/src/webhooks'],
    experiments: ['attack webhooks'],
    rate: { failures: ['healthy ones lost'], of: 'webhooks' },
    needs: [{ what: 'webhooks', atLeast: 3_000 }],
  },
  {
    id: 'webhooks-inside',
    says: 'No webhook goes to an address inside, whatever its name leads to',
    target:
      'no connection of 1,000 names that lead to private, link-local, loopback or mapped addresses, rebinding ones among them',
    command: '`npm run attack -- --only webhooks --continue docs/proofs/runs.jsonl`',
    covers: ['packages/webhooks/src', 'apps/worker/src/webhooks'],
    experiments: ['attack webhooks'],
    rate: { failures: ['connections inside'], of: 'names that led inside' },
    needs: [{ what: 'names that led inside', atLeast: 1_000 }],
  },
  {
    id: 'T23',
    says: '10,000 idle streams stay small',
    target: '50 kB each, none left',
    command: '`npm run attack -- --only idle --continue docs/proofs/runs.jsonl`',
    covers: STREAMS,
    experiments: ['attack idle'],
  },
  {
    id: 'T24',
    says: '500 readers that never read stay small',
    target: '256 kB each over the memory before, after 30 min',
    command: '`npm run attack -- --only deaf --continue docs/proofs/runs.jsonl`',
    covers: STREAMS,
    experiments: ['attack deaf'],
  },
  {
    id: 'T26',
    says: 'Slow clients are closed, and others do not notice them',
    target: "4,000 of each kind; others' p99 2 x, over in 20 s",
    command: '`npm run attack -- --only slow-headers,slow-bodies,silent,no-reading --continue docs/proofs/runs.jsonl`',
    covers: ['apps/gateway/src/http', 'apps/gateway/src/app.ts'],
    experiments: ['attack slow-headers', 'attack slow-bodies', 'attack silent', 'attack no-reading'],
    rate: { failures: ['connections left', 'failed requests beside them'], of: 'slow connections' },
    needs: [{ what: 'slow connections', atLeast: 12_500 }],
  },
  {
    id: 'T29',
    says: 'Hostile texts on pages stay texts',
    target: '0 of 10,000',
    command: '`npm run test:hostile`; `npm test -- apps/gateway/test/pages/hostile-dashboard.test.ts`',
    covers: ['apps/gateway/src/pages'],
    ...noneOf('texts that did more', 10_000, 'texts'),
  },
  {
    id: 'T37',
    says: 'Everybody at once on a cold cache makes one call',
    target: '1 call',
    command: '`npm test -- apps/gateway/test/discovery/models.test.ts`',
    covers: ['apps/gateway/src/discovery'],
  },
  {
    id: 'T39',
    says: 'An account beside one that sends all it can',
    target:
      "a neighbour's polls p50 and p95 1.5 x of alone, beside an account that sends 5,000 sessions; Jain's index of finished polls .95 over 64 accounts of unequal load",
    command:
      '`npm run bench -- --only fair`; `npm test -- packages/bus/test/fair-queue.test.ts packages/lab/test/fair.test.ts`',
    covers: ['packages/bus/src', 'apps/worker/src'],
    short: {
      tried: '4,789 sessions of the other account, until the polls of the neighbour had ended',
      takes:
        'more polls of the neighbour; in the first half second of a burst on an idle fleet nothing is refused, because the rate is not known yet',
    },
  },
  {
    id: 'lists',
    says: 'Lists stay quick with ten million polls of one account',
    target: 'p95 at most 50 ms for each page of 100 polls, history and usage',
    command: '`npm run lists -- --polls 10000000 --thin --plans`; shorter: `packages/lab/test/lists.test.ts`',
    covers: ['packages/storage/src', 'packages/storage/sql', 'apps/gateway/src/polls/read'],
    short: {
      tried: 'sums of each day by name of metadata',
      takes: 'sums of a month for names with many values: a year reads 365,000 sums now',
    },
  },
  {
    id: 'T28',
    says: "One provider away is not felt by others' polls",
    target: 'p95 1.2 x',
    command: '`ATTACKS=full npm test -- --timeout=3600 packages/lab/test/provider-outage.test.ts`',
    covers: ['apps/worker/src', 'packages/models/src'],
  },
  {
    id: 'T27',
    says: 'A provider that hangs ends no poll late',
    target: 'every poll over 5 s after its deadline, of 1,000',
    command: '`npm test -- packages/lab/test/misbehaving-models.test.ts`; `npm run simulate -- --polls 1000000`',
    covers: ['apps/worker/src', 'packages/models/src'],
    experiments: ['simulate polls'],
    ...noneOf('late polls', 1_000, 'polls that their deadline ended'),
  },
  {
    id: 'T31',
    says: 'Models that obey labels or places favour no option',
    target: '2 % over 1/n, 10,000 polls of each kind',
    command: '`ATTACKS=full npm test -- --timeout=3600 packages/lab/test/favour.test.ts`',
    covers: ['apps/worker/src', 'packages/models/src', 'packages/voting/src'],
  },
];
