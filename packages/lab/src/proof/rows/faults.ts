import { MASTER_FAULTS } from '../../faults/fault-kinds.ts';
import { PLANS } from '../../faults/plans.ts';
import { LONGER, noneOf, type ProofRow } from '../proof-row.ts';
import { ASKING, LEDGER, PROMISES, RUNNING, SERVICE, STREAMS } from './paths.ts';

/** Each accepted poll has ended, and no rule of the campaign was broken. */
const NOTHING_LOST = {
  rate: { failures: ['polls lost', 'double captures'], of: 'polls' },
  none: ['violations'],
} as const satisfies Partial<ProofRow>;

/** How often promises beyond polls were put to the test: without, their rules had nothing to look at. */
const PROMISES_TRIED = [
  'webhooks received',
  'cancellations that callers heard to be over',
  'polls refused at the limit of a key',
];

const AUDITED = {
  rate: { failures: ['violations'], of: 'audits' },
  beside: ['audits that were given up', 'audits that another worker began again'],
  needs: [
    { what: 'audits', atLeast: 500 },
    { what: 'faults', atLeast: 100 },
  ],
  short: { tried: 'runs of three minutes', takes: LONGER },
} as const satisfies Partial<ProofRow>;

const WORKERS =
  '`npm run chaos -- --only workers --kills 1000 --stops 500 --workers 12 --in-flight 60 --continue docs/proofs/runs.jsonl`';
const CLUSTER = '`npm run chaos -- --only cluster --minutes 8 --kills 1000 --continue docs/proofs/runs.jsonl`';

/** What must survive failing processes, stores and connections. */
export const FAULT_ROWS: readonly ProofRow[] = [
  {
    id: 'T2/T3',
    says: 'No accepted poll is lost, whatever dies',
    target:
      '0 of 20,000 under 1,000 faults, 100 of them complete losses of Redis. Faults: processes and stores killed, stores emptied, connections cut, disks full',
    command: '`npm run chaos -- --only service --minutes 8 --kills 1000 --continue docs/proofs/runs.jsonl`',
    covers: SERVICE,
    experiments: ['chaos service'],
    ...NOTHING_LOST,
    needs: [
      { what: 'polls', atLeast: 20_000 },
      { what: 'faults', atLeast: 1_000 },
      { what: 'losses of Redis', atLeast: 100, of: ['losses of Redis', 'flushall', 'kill redis, lose all'] },
      { what: 'full disks', atLeast: 10, of: ['disk full'] },
    ],
    mended: {
      at: '2026-11-22',
      what: 'two processes that crashed and a poll that was wrongly given up, found by five runs that were recorded as one; the last two of the five broke no rule',
    },
    short: { tried: 'runs of one to eight minutes on two shared cores', takes: LONGER },
  },
  {
    id: 'T1/T4',
    says: 'No vote is billed twice, and no worker writes without its lease',
    target:
      '0 over 1,000 kills and 500 stops of workers. Only a poll that is claimed more than once can be billed twice',
    command: WORKERS,
    covers: RUNNING,
    experiments: ['chaos workers'],
    ...NOTHING_LOST,
    beside: ['claimed more than once'],
    needs: [
      { what: 'kills', atLeast: 1_000, of: ['kill worker'] },
      { what: 'stops', atLeast: 500, of: ['stop worker'] },
    ],
  },
  {
    id: 'calls-twice',
    says: 'No model is asked again for a vote that has arrived',
    target:
      '0 over 1,000 kills and 500 stops of workers, by the moment at which a worker makes a call. Only calls for polls that are claimed more than once can be repeated. Counted apart, because they cannot be prevented: calls in transit, made before the vote by a worker that was then stopped, which reach their model after it',
    command: WORKERS,
    covers: RUNNING,
    experiments: ['chaos workers'],
    rate: { failures: ['calls made again'], of: 'calls of models' },
    beside: ['calls in transit when their worker was stopped', 'claimed more than once'],
    rules: ['a vote that has arrived is never asked for again'],
    needs: [
      { what: 'kills', atLeast: 1_000, of: ['kill worker'] },
      { what: 'stops', atLeast: 500, of: ['stop worker'] },
    ],
    mended: {
      at: '2026-11-24T16:28:00.000Z',
      what: 'workers that had just woken up made calls again, which the operator paid, not an account; the lease is now checked in the same turn of the event loop as the call. A worker without a connection to Redis took a poll over and did not wait for the recorded votes, which it does now (0054): 10 of 43,555 calls in a run that was not kept (500 kills, 250 stops, beside three other programs)',
    },
    short: { tried: 'runs of up to 14 minutes', takes: LONGER },
  },
  {
    id: 'T5',
    says: 'Polls of a killed worker continue',
    target: 'p99 of the time from the kill to the next claim at most 15 s: at most 1 % are later',
    command: WORKERS,
    covers: RUNNING,
    experiments: ['chaos workers'],
    rate: {
      failures: ['claimed again after more than 15 s'],
      of: 'polls taken over from killed workers',
      atMost: 0.01,
    },
  },
  {
    id: 'T5-stores',
    says: 'Polls of a killed worker continue while stores and connections fail too',
    target: 'p99 at most 15 s: at most 1 % are later',
    command: '`npm run chaos -- --only service --minutes 8 --kills 1000 --continue docs/proofs/runs.jsonl`',
    covers: SERVICE,
    experiments: ['chaos service'],
    rate: {
      failures: ['claimed again after more than 15 s'],
      of: 'polls taken over from killed workers',
      atMost: 0.01,
    },
    short: {
      tried:
        'one worker without faults; sweeps when a lease ends, when Postgres is back and when a suspect has ended; workers that cannot claim return their jobs (0054). A run beside mutation tests on the same two cores had 13 of 294 late, one of seventeen minutes alone 22 of 2,646, one of eight minutes 0 of 974. Half of the wait is the lease itself (7.8 s)',
      takes: LONGER,
    },
  },
  {
    id: 'releases',
    says: 'An upgrade, its rollback and a second upgrade lose nothing, and clients of the older release continue to work',
    target:
      '0 of 5,000 polls lost while all processes are replaced ten times by those of the other release and workers are killed; 500 polls accepted by one release and run by the other; 1,000 calls by the published clients of both succeed. The older release is built as it was. There is no release yet, so it is an earlier revision, which each run names',
    command: '`npm run chaos -- --only releases --from REVISION --minutes 12 --continue docs/proofs/runs.jsonl`',
    covers: [...SERVICE, 'packages/client/src'],
    experiments: ['chaos releases'],
    rate: { failures: ['polls lost', 'double captures', 'violations'], of: 'polls' },
    needs: [
      { what: 'polls', atLeast: 5_000 },
      { what: 'replacements of all processes', atLeast: 10, of: ['roll forward', 'roll back'] },
      {
        what: 'polls of two releases',
        atLeast: 500,
        of: [
          'polls accepted by the older and run by the newer release',
          'polls accepted by the newer and run by the older release',
        ],
      },
      { what: 'calls of their clients', atLeast: 1_000 },
    ],
    short: { tried: 'runs of two minutes on a busy machine', takes: LONGER },
  },
  {
    id: 'promises',
    says: 'Webhooks, receipts, key limits, cancellations and deletions are exact, whatever dies',
    target:
      '0 violations over 1,000 polls under 200 faults: each end is sent with one id and signed, each receipt is true, no key exceeds its limit, no model is asked after a cancellation, no deleted text is left in a table, a replica of Postgres, Redis, a log, an export or an answer. Gateways read lists and exports from that replica, which is killed and paused: a list may show what was deleted for at most the lag (5 s), but not at the gateway that deleted it. A failover of Postgres is not part of it',
    command: '`npm run chaos -- --only promises --minutes 5 --kills 1000 --continue docs/proofs/runs.jsonl`',
    covers: PROMISES,
    experiments: ['chaos promises'],
    rate: { failures: ['violations'], of: 'polls' },
    beside: [...PROMISES_TRIED, 'lists that showed what was deleted, within the lag'],
    needs: [
      { what: 'polls', atLeast: 1_000 },
      { what: 'faults', atLeast: 200 },
      { what: 'receipts verified with their result', atLeast: 1_000 },
      { what: 'reads of deleted results by strangers, answered as gone', atLeast: 1_000 },
      { what: 'lists after a deletion that a replica answered', atLeast: 100 },
    ],
    mended: {
      at: '2026-11-28T23:37:00.000Z',
      what: 'a worker that was stopped, and cut off from Postgres when it continued, asked two models ten seconds after the caller had heard that the poll was canceled. A worker that cannot reach Postgres now asks no more models once its lease has ended (0054). Earlier, a gateway was killed while it deleted an account, with Redis away: other gateways accepted the key from their cache for up to 10 s, and the retry was a 401. A revocation is now answered as soon as Redis is back, and a retry repeats the tombstones of keys that were revoked moments ago; only for deletions that were answered does the rule demand that the key ends at once (0056)',
    },
    short: { tried: 'runs of half a minute to five minutes', takes: LONGER },
  },
  {
    id: 'promises-cluster',
    says: 'Webhooks, receipts, key limits, cancellations and deletions are exact on a Redis cluster',
    target:
      '0 violations of the same over 1,000 polls under 100 faults. Counted apart: deleted texts that a failover of Redis brings back, which must go within ten minutes, and keys on servers that have lost their slot, which are not searched. Replicas of Redis are searched too. There is no replica of Postgres, so lists and exports never show what was deleted',
    command: '`npm run chaos -- --only promises-cluster --minutes 5 --kills 1000 --continue docs/proofs/runs.jsonl`',
    covers: PROMISES,
    experiments: ['chaos promises-cluster'],
    rate: { failures: ['violations'], of: 'polls' },
    beside: [
      ...PROMISES_TRIED,
      'deleted texts that a failover brought back',
      'keys on servers that have lost their slot',
    ],
    needs: [
      { what: 'polls', atLeast: 1_000 },
      { what: 'faults', atLeast: 100 },
      { what: 'receipts verified with their result', atLeast: 1_000 },
      { what: 'reads of deleted results by strangers, answered as gone', atLeast: 1_000 },
    ],
    mended: {
      at: '2026-11-23T12:00:00.000Z',
      what: 'a failover of Redis restored the record of a deleted run for ten minutes; deletions are now repeated (0064). A gateway that died left a revoked key in the cache; it no longer does (0056)',
    },
    short: { tried: 'runs of five minutes', takes: LONGER },
  },
  {
    id: 'audits',
    says: 'Audits are made once, say what models answered and cost what they are charged, whatever dies',
    target: '0 violations over 500 audits under 100 faults, every question audited',
    command: '`npm run chaos -- --only audits --minutes 3 --kills 1000 --continue docs/proofs/runs.jsonl`',
    covers: RUNNING,
    experiments: ['chaos audits'],
    ...AUDITED,
  },
  {
    id: 'audits-cluster',
    says: 'Audits are made once, say what models answered and cost what they are charged, on a Redis cluster',
    target: '0 violations over 500 audits under 50 faults',
    command: '`npm run chaos -- --only audits-cluster --minutes 3 --kills 1000 --continue docs/proofs/runs.jsonl`',
    covers: RUNNING,
    experiments: ['chaos audits-cluster'],
    ...AUDITED,
    needs: [
      { what: 'audits', atLeast: 500 },
      { what: 'faults', atLeast: 50 },
    ],
    mended: {
      at: '2026-11-28T22:55:27.000Z',
      what: 'the judge, not the service: it expected no audit of a poll whose models all answered, none of them with a valid vote. Such a poll is audited like any other',
    },
  },
  {
    id: 'spend',
    says: 'Providers never charge more than the ceiling, whatever dies',
    target:
      '0 violations over 1,000 calls, as counted by the simulated providers, including calls that no worker waited for. No model is tested and no poll audited',
    command: '`npm run chaos -- --only spend --minutes 3 --kills 1000 --continue docs/proofs/runs.jsonl`',
    covers: [...RUNNING, 'apps/gateway/src/polls', 'packages/models/src'],
    experiments: ['chaos spend'],
    rate: { failures: ['violations'], of: 'calls of models' },
    needs: [
      { what: 'calls of models', atLeast: 1_000 },
      { what: 'faults', atLeast: 200 },
    ],
    mended: {
      at: '2026-11-28T19:28:00.000Z',
      what: 'the campaign, not the service: simulated providers charged a few prices of their own, a sixth of those of the roster, so that spending hardly came near its ceiling',
    },
    short: { tried: 'short runs on a busy machine', takes: LONGER },
  },
  {
    id: 'neighbours',
    says: 'An account is served well beside one that sends as much as it can, whatever dies',
    target:
      'over 1,000 polls of quiet accounts under 20 faults: in each run their median, retries included, is at most 1.5 x that without the flood, and none is refused because of it. Phases with and without the flood are equally long and have the same polls and faults; no poll is left out. If the flood had no effect, as many polls would be longer than 1.5 medians beside it as without it',
    command: '`npm run chaos -- --only neighbours --minutes 4 --continue docs/proofs/runs.jsonl`',
    covers: SERVICE,
    experiments: ['chaos neighbours'],
    rate: { failures: ['violations'], of: 'polls of quiet accounts' },
    beside: [
      'of them beside a flood',
      'of these longer than 1.5 medians without it',
      'without a flood, longer than 1.5 medians',
      'requests of the flooding account that were refused',
    ],
    needs: [
      { what: 'polls of quiet accounts', atLeast: 1_000 },
      { what: 'faults', atLeast: 20 },
    ],
  },
  {
    id: 'T2-cluster',
    says: 'No accepted poll is lost on a Redis cluster',
    target:
      '0 of 10,000 under 500 faults, 100 of them of masters (killed, emptied, stopped, cut off, full), while slots are moved',
    command: CLUSTER,
    covers: [...SERVICE, 'packages/services/src/redis-cluster.ts'],
    experiments: ['chaos cluster'],
    ...NOTHING_LOST,
    needs: [
      { what: 'polls', atLeast: 10_000 },
      { what: 'faults', atLeast: 500 },
      {
        what: 'faults of masters',
        atLeast: 100,
        of: MASTER_FAULTS,
      },
    ],
    short: { tried: 'runs of two to four minutes', takes: LONGER },
  },
  {
    id: 'T5-cluster',
    says: 'Polls of a killed worker continue, also while a master fails over',
    target:
      'at most 1 % are claimed later than after 15 s, or 30 s if a fault hit a master within the 15 s; time under other faults is not counted',
    command: CLUSTER,
    covers: SERVICE,
    experiments: ['chaos cluster'],
    rate: {
      failures: ['later than 15 s or 30 s, without the time of other faults'],
      of: 'waits for another worker',
      atMost: 0.01,
    },
    beside: ['of these with other faults besides', 'claimed again after more than 15 s'],
    short: {
      tried:
        'until 2026-11-23, waits during which another fault happened were left out, which favoured short waits: 0 of 361 counted waits were late, but 18 of all 1,071 took more than 15 s',
      takes: LONGER,
    },
  },
  {
    id: 'failover',
    says: 'After a failover, the new Postgres primary has everything that was answered',
    target:
      'over 10 failovers, nothing that was answered is lost, nothing is charged twice, and unanswered requests are found by their Idempotency-Key. All polls of a run share its one failover',
    command: '`npm run chaos -- --only failover --minutes 1 --continue docs/proofs/runs.jsonl`, once for each failover',
    covers: [...SERVICE, 'packages/services/src/postgres.ts'],
    experiments: ['chaos failover'],
    ...NOTHING_LOST,
    needs: [{ what: 'failovers', atLeast: 10, of: ['fail over'] }],
    mended: {
      at: '2026-11-23T18:28:49.000Z',
      what: 'on a busy machine, a gateway that had just started used the old primary, which was back, until its next check: in two runs that were not kept, it did not find 23 polls and batches and returned three outdated balances. A starting process now waits longer for all servers (0045)',
    },
  },
  {
    id: 'pooler',
    says: 'Nothing is lost when a connection pooler is killed',
    target: '0 polls lost; no more connections to Postgres than the pool size',
    command: '`npm run chaos -- --only pooler --continue docs/proofs/runs.jsonl`',
    covers: SERVICE,
    experiments: ['chaos pooler'],
    ...NOTHING_LOST,
    needs: [{ what: 'kills of the pooler', atLeast: 30, of: ['kill pooler'] }],
  },
  {
    id: 'cells',
    says: 'An account that moves between cells under load keeps its polls and money',
    target: '0 polls lost, 0 drift, also if the command is killed at any step',
    command: '`npm run cells:try`; shorter: `packages/lab/test/cells.test.ts`',
    covers: ['packages/storage/src/cells', 'packages/storage/sql', 'packages/lab/src/cells'],
    rate: { failures: ['polls lost', 'micro-USD of drift'], of: 'polls' },
  },
  {
    id: 'T6',
    says: 'Queue consumers recover when Redis is back',
    target: '0 stuck after 200 outages',
    command: '`ATTACKS=full npm test -- --timeout=3600 packages/lab/test/redis-outages.test.ts`',
    covers: ['packages/bus/src'],
    ...noneOf('stuck', 200, 'outages'),
  },
  {
    id: 'T10',
    says: 'No hold stays open',
    target: '0 after every experiment',
    command: '`select * from check_ledger()`, and the figure "open holds" of `npm run chaos`',
    covers: LEDGER,
    experiments: Object.keys(PLANS).map((name) => `chaos ${name}`),
    rate: { failures: ['open holds'], of: 'polls' },
    rules: [
      'every poll has one hold, and one post or void',
      'every batch ends with all of its rows, costs what its polls did, and reserves nothing then',
    ],
    mended: {
      at: '2026-11-23T12:00:00.000Z',
      of: ['chaos promises-cluster', 'chaos batches'],
      what: 'two runs of promises-cluster and one of batches broke other rules (see the rows promises-cluster and batch); since then, runs record which rule was broken',
    },
  },
  {
    id: 'T13',
    says: 'One Idempotency-Key, one poll',
    target: '1,000 keys, each with 100 simultaneous requests, while processes are killed',
    command:
      '`npm run chaos -- --only keys --minutes 5 --kills 1000 --continue docs/proofs/runs.jsonl`; `ATTACKS=full npm test -- --timeout=3400 packages/storage/test/accept-poll.test.ts`',
    covers: [...ASKING, ...LEDGER],
    experiments: ['chaos keys'],
    rate: { failures: ['violations'], of: 'keys' },
    needs: [
      { what: 'keys', atLeast: 1_000 },
      { what: 'kills', atLeast: 100, of: ['kill worker', 'kill gateway'] },
    ],
    short: {
      tried:
        'about 270 keys in five minutes on two shared cores; in the database alone, without kills, 1,000 keys hold',
      takes: LONGER,
    },
  },
  {
    id: 'T25',
    says: 'Every stream delivers its last event, and its events in order',
    target: '0 of 10,000, with faults of Redis',
    command: '`npm run chaos -- --only streams --minutes 6 --kills 1000 --continue docs/proofs/runs.jsonl`',
    covers: [...STREAMS, 'packages/polls/src', 'apps/worker/src'],
    experiments: ['chaos streams'],
    rate: { failures: ['violations'], of: 'streams' },
    needs: [
      { what: 'streams', atLeast: 10_000 },
      { what: 'faults of Redis', atLeast: 30, of: ['flushall', 'kill redis', 'kill redis, lose all'] },
    ],
    short: { tried: '4,200 streams in six minutes on two shared cores', takes: LONGER },
  },
  {
    id: 'T38',
    says: 'Rolling restarts go unnoticed',
    target:
      'over 10 restarts of all five processes, no failed poll and no 5xx answer. There is no load balancer: a request that reaches a gateway while it is away is lost and sent to the other one, where streams continue too. Nothing else is lost',
    command: '`npm run chaos -- --only rolling --continue docs/proofs/runs.jsonl`',
    covers: SERVICE,
    experiments: ['chaos rolling'],
    rate: { failures: ['violations'], of: 'polls' },
    beside: ['requests without an answer', 'streams that were cut'],
    needs: [{ what: 'restarts of processes', atLeast: 50, of: ['term gateway', 'term worker'] }],
  },
  {
    id: 'batch',
    says: 'A batch of 100,000 rows loses no row, and runs and bills none twice',
    target: '0 of 100,000 rows, under 20 kills of gateways and workers; memory of the gateways stays flat',
    command:
      '`npm run bench -- --only batch --rows 100000 --kills 20`; `npm run chaos -- --only batches --continue docs/proofs/runs.jsonl`; shorter: `packages/lab/test/chaos-batches.test.ts`',
    covers: [
      'apps/gateway/src/batches',
      'packages/storage/src',
      'packages/storage/sql',
      'apps/worker/src',
      'packages/bus/src',
    ],
    experiments: ['chaos batches'],
    rate: { failures: ['rows lost, run twice or billed twice'], of: 'rows' },
    needs: [
      { what: 'rows', atLeast: 100_000, isOfOneRun: true },
      {
        what: 'kills',
        atLeast: 20,
        isOfOneRun: true,
        of: ['kills', 'kill worker', 'kill gateway', 'kill gateway during an upload'],
      },
    ],
    mended: {
      at: '2026-11-23T11:29:59.000Z',
      of: ['chaos batches'],
      what: 'the experiment, not the service: a poll was given up after 11 claims, during 49 kills of three workers in three minutes. As in the others, there is now one more worker, without faults (0054)',
    },
  },
  {
    id: 'batch-rate',
    says: 'A batch runs its rows fast enough',
    target: '400 rows per second on two cores',
    command: '`npm run bench -- --only batch --rows 20000 --kills 0`',
    covers: ['apps/gateway/src/batches', 'packages/storage/sql', 'apps/worker/src', 'packages/bus/src'],
  },
  {
    id: 'batch-beside',
    says: 'A batch hardly delays other callers',
    target: 'p95 of a synchronous poll beside a batch at most 1.5 x that without one',
    command: '`npm run bench -- --only batch --rows 100000 --kills 20`',
    covers: ['apps/gateway/src/batches/run', 'packages/bus/src', 'apps/worker/src'],
  },
];
