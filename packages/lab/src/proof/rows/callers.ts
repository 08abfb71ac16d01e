import { LONGER, noneOf, type ProofRow } from '../proof-row.ts';
import { KEYS, STREAMS } from './paths.ts';

const GATEWAY = ['apps/gateway/src'];

/** What callers can rely on, and what attackers cannot do. */
export const CALLERS: readonly ProofRow[] = [
  {
    id: 'T14/T15',
    says: 'No unexpected answer, and none that differs from its schema',
    target: '0 of 100,000 inputs; at least 1,000 per operation',
    command: '`npm run fuzz -- --continue docs/proofs/runs.jsonl`',
    covers: [...GATEWAY, 'packages/contracts/src'],
    experiments: ['fuzz'],
    rate: { failures: ['unexpected answers'], of: 'inputs' },
    needs: [
      { what: 'inputs', atLeast: 100_000 },
      { what: 'inputs per operation', atLeast: 1_000 },
    ],
    mended: {
      at: '2026-11-29T07:20:00.000Z',
      what: 'the forms that create and rotate keys answered 409 for an account with a hundred keys, which the API description did not declare. The other failures are the fuzzer itself: eight inputs of one run, because it had reached that limit, and two of each run that asked for receipts by HEAD, because its service had no key to sign them, and an answer to HEAD does not say why it is a 503. It has a key now',
    },
  },
  {
    id: 'T14-memory',
    says: 'Requests that use values from earlier answers get the right answer, over all operations',
    target:
      '0 unexpected answers, 0 that differ from their schema, 0 secrets in 1,000,000 requests over REST, MCP, A2A, chat completions, forms and webhooks of payments, with hostile texts as questions, options, metadata, labels, file names and custom ids, and since 2026-11-29 as reasons of models',
    command: '`npm run fuzz -- --memory --requests 1000000 --continue docs/proofs/runs.jsonl`',
    covers: [...GATEWAY, 'packages/contracts/src'],
    experiments: ['fuzz memory'],
    rate: { failures: ['unexpected answers', 'secrets in answers'], of: 'requests' },
    needs: [{ what: 'requests', atLeast: 1_000_000 }],
    mended: {
      at: '2026-11-24T15:20:00.000Z',
      what: 'three runs of 217,000, 265,000 and 693,000 requests, which were not kept, ended at their first findings: `GET /api/usage` did not declare `invalid_preset`; a batch row with NUL in its `custom_id` was answered with 500; five more were mistakes of the checker',
    },
    short: { tried: 'runs of 170,000 requests (130 to 490 a second)', takes: LONGER },
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
    mended: {
      at: '2026-11-29T07:20:00.000Z',
      of: ['fuzz'],
      what: 'two runs that did not hold for another reason, see T14/T15; no log line had a secret',
    },
  },
  {
    id: 'T16',
    says: 'Ids of other accounts give no access',
    target: '0 leaks',
    command: '`npm test -- apps/gateway/test/attacks/foreign-ids.test.ts`',
    covers: [...GATEWAY, 'packages/storage/src', 'packages/storage/sql'],
  },
  {
    id: 'T19',
    says: 'Nothing that was forged by a flipped bit is accepted',
    target: '0 of all flips of 100 samples',
    command: '`ATTACKS=full npm test -- --timeout=3400 apps/gateway/test/attacks/flipped-bits.test.ts`',
    covers: [...KEYS, 'apps/gateway/src/payments'],
    rate: { failures: ['taken'], of: 'forgeries' },
  },
  {
    id: 'T20',
    says: 'Unknown, revoked and almost right keys take equally long',
    target: 'less than 50 us apart, p > 0.01, 100,000 samples',
    command: '`npm run attack -- --only timing --continue docs/proofs/runs.jsonl`',
    covers: [
      ...KEYS,
      'apps/gateway/src/http',
      'packages/storage/src/api-keys.ts',
      'packages/storage/src/migrations/0021-key-hashes.ts',
    ],
    experiments: ['attack timing'],
    mended: {
      at: '2026-11-24T15:40:00.000Z',
      what: 'the lookup of a revoked key read its row (4 us in Postgres) and, for two minutes, its tombstone in Redis (4 to 8 us). Neither is read now (0056)',
    },
  },
  {
    id: 'T22',
    says: 'X-Forwarded-For does not create new callers',
    target: '1 rate-limit bucket for 10,000 headers',
    command: '`ATTACKS=full npm test -- --timeout=3400 apps/gateway/test/attacks/forwarded-for.test.ts`',
    covers: ['apps/gateway/src/http', 'apps/gateway/src/config'],
  },
  {
    id: 'webhooks',
    says: 'Webhooks reach healthy receivers, whatever other receivers do',
    target:
      'of 10,000 webhooks, all 3,000 to healthy receivers arrive, with a p95 of at most 5 s; the other receivers are slow, dead, redirecting or private, or answer 410',
    command:
      '`npm run attack -- --only webhooks --continue docs/proofs/runs.jsonl`; shorter: `packages/lab/test/webhooks.test.ts`',
    covers: ['packages/webhooks/src', 'apps/worker/src/webhooks'],
    experiments: ['attack webhooks'],
    rate: { failures: ['healthy ones lost'], of: 'webhooks' },
    needs: [{ what: 'webhooks', atLeast: 3_000 }],
  },
  {
    id: 'webhooks-inside',
    says: 'No webhook is sent to an internal address, whatever its name resolves to',
    target:
      'no connection to 1,000 names that resolve to private, link-local, loopback or mapped addresses, including DNS rebinding',
    command: '`npm run attack -- --only webhooks --continue docs/proofs/runs.jsonl`',
    covers: ['packages/webhooks/src', 'apps/worker/src/webhooks'],
    experiments: ['attack webhooks'],
    rate: { failures: ['connections inside'], of: 'names that led inside' },
    needs: [{ what: 'names that led inside', atLeast: 1_000 }],
  },
  {
    id: 'T23',
    says: '10,000 idle streams need little memory',
    target: 'at most 50 kB each; none left afterwards',
    command: '`npm run attack -- --only idle --continue docs/proofs/runs.jsonl`',
    covers: STREAMS,
    experiments: ['attack idle'],
  },
  {
    id: 'T24',
    says: '500 clients that never read need little memory',
    target:
      'after 30 minutes in which 450 are connected on average: without garbage at most 256 kB each above the initial memory, with garbage at most the 512 MiB of our manifests in total; their polls end',
    command: '`npm run attack -- --only deaf --continue docs/proofs/runs.jsonl`',
    covers: STREAMS,
    experiments: ['attack deaf'],
    needs: [{ what: 'readers connected', atLeast: 450, isOfOneRun: true }],
  },
  {
    id: 'T26',
    says: 'Slow clients are disconnected, and other clients do not notice them',
    target:
      '4,000 clients each that send headers slowly, send bodies slowly or send nothing are disconnected within 20 s; 500 that read no answer have a longer time limit, whose end is not waited for. The p99 of other clients is at most 2 x that without them, and the gateway takes at most 512 MiB',
    command: '`npm run attack -- --only slow-headers,slow-bodies,silent,no-reading --continue docs/proofs/runs.jsonl`',
    covers: ['apps/gateway/src/http', 'apps/gateway/src/app.ts'],
    experiments: ['attack slow-headers', 'attack slow-bodies', 'attack silent', 'attack no-reading'],
    rate: { failures: ['connections left', 'failed requests beside them'], of: 'slow connections' },
    needs: [{ what: 'slow connections', atLeast: 12_500 }],
  },
  {
    id: 'T29',
    says: 'Hostile texts on pages remain plain text',
    target:
      '0 of 10,000, as questions, options, reasons and names of models; on the dashboard in every other text of an account',
    command: '`npm run test:hostile`; `npm test -- apps/gateway/test/pages/hostile-dashboard.test.ts`',
    covers: ['apps/gateway/src/pages'],
    ...noneOf('texts that did more', 10_000, 'texts'),
  },
  {
    id: 'T37',
    says: 'Simultaneous requests on a cold cache make one call',
    target: '1 call for 1,000 callers',
    command: '`npm test -- apps/gateway/test/discovery/models.test.ts`',
    covers: ['apps/gateway/src/discovery'],
  },
  {
    id: 'T39',
    says: 'An account is served well beside one that sends as much as it can',
    target:
      "p50 and p95 of its polls at most 1.5 x those without the other account, which sends 5,000 sessions; Jain's index of finished polls at least .95 over 64 accounts with unequal load. Measured without faults; `neighbours` is the same under them",
    command:
      '`npm run bench -- --only fair`; `npm test -- packages/bus/test/fair-queue.test.ts packages/lab/test/fair.test.ts`',
    covers: ['packages/bus/src', 'apps/worker/src'],
    short: {
      tried: '4,789 sessions of the other account, until the polls of the measured account had ended',
      takes:
        'more polls of the measured account. In the first half second of a burst on an idle fleet nothing is refused, because the rate is not known yet',
    },
  },
  {
    id: 'lists',
    says: 'Lists stay fast with ten million polls of one account',
    target: 'p95 at most 50 ms for each page of 100 polls, history and usage',
    command: '`npm run lists -- --polls 10000000 --months 12 --thin`; shorter: `packages/lab/test/lists.test.ts`',
    covers: ['packages/storage/src', 'packages/storage/sql', 'apps/gateway/src/polls/read'],
  },
  {
    id: 'T28',
    says: 'An outage of one provider does not affect polls on other providers',
    target: 'p95 of those polls at most 1.2 x that without the outage',
    command: '`ATTACKS=full npm test -- --timeout=3600 packages/lab/test/provider-outage.test.ts`',
    covers: ['apps/worker/src', 'packages/models/src'],
  },
  {
    id: 'T27',
    says: 'A provider that hangs does not make polls end late',
    target: 'all of 1,000 polls end at most 5 s after their deadline',
    command: '`npm test -- packages/lab/test/misbehaving-models.test.ts`; `npm run simulate -- --polls 1000000`',
    covers: ['apps/worker/src', 'packages/models/src'],
    experiments: ['simulate polls'],
    ...noneOf('late polls', 1_000, 'polls that their deadline ended'),
  },
  {
    id: 'T31',
    says: 'Models that prefer a label or a position favour no option',
    target:
      'over 10,000 polls of each kind of such models, the option that they should favour gets at most 2 % of the votes above its share, 1/n',
    command: '`ATTACKS=full npm test -- --timeout=3600 packages/lab/test/favour.test.ts`',
    covers: ['apps/worker/src', 'packages/models/src', 'packages/voting/src'],
  },
];
