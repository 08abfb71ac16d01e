import type { ProofRow } from '../proof-row.ts';
import { RUNNING, STREAMS } from './paths.ts';

const BENCH = '`npm run bench`';
const GATEWAY = ['apps/gateway/src', 'packages/bus/src'];

/** For paths through Postgres or the queue, where a poll waits for other processes to wake up; baselines do not. */
const shared = (tried: string) => ({
  tried,
  takes: 'fewer round trips to Postgres and Redis per poll, and a quiet machine to measure it',
});
const TRIED = 'what helped and what had no effect is in 0011, 0042 to 0044, 0050 to 0052 and 0058 to 0060';

/** Each is measured beside its baseline in one run: H is a "hello" of Fastify (12 us of CPU); `npm run bench` names the others. */
export const SPEED: readonly ProofRow[] = [
  {
    id: 'status',
    says: 'Status of a running and of a finished session',
    target:
      'running: at least .40 of the rate of a "hello" of Fastify (H) and .70 of that of one that reads a key of Redis (G); finished: at least .55 H. A sixth less counts as met, because machines differ from minute to minute',
    command: BENCH,
    covers: GATEWAY,
    short: shared(TRIED),
  },
  {
    id: 'session-requests',
    says: 'Requests per session with `Prefer: wait`',
    target: 'at most 2',
    command: BENCH,
    covers: GATEWAY,
  },
  {
    id: 'streams',
    says: '5,000 streams on one gateway',
    target: 'no event lost, at most 20 kB each',
    command: BENCH,
    covers: STREAMS,
    short: {
      tried:
        'one subscription for all streams of a poll. A stream keeps 8.7 kB alive (heap snapshots); the rest of the growth is garbage that was not yet collected',
      takes: 'a smaller young generation of V8; not done, because it costs a loaded gateway 5 % more CPU per poll',
    },
  },
  {
    id: 'result-store',
    says: 'Results stored per second compared with a Kysely transaction',
    target: 'at least 1.5 x',
    command: BENCH,
    covers: RUNNING,
    short: shared(TRIED),
  },
  {
    id: 'idle-memory',
    says: 'Memory of an idle gateway, and of a worker with 50 polls',
    target: 'at most 120 MB and 170 MB',
    command: BENCH,
    covers: [...GATEWAY, 'apps/worker/src'],
    short: {
      tried:
        'a gateway loads some parts only at their first use (0061): live objects fell from 25.3 to 21.6 MB, but resident memory did not, because V8 doubles the young generation while routes are registered. Programs in ASCII, which V8 keeps with one byte for each character: 3 MB less for a gateway, 2.4 MB for a worker',
      takes:
        'fewer routes. `--max-semi-space-size=8` gives 125 MB; not done, because it costs gateway and worker 5 % more CPU per poll',
    },
  },
  {
    id: 'redis-per-poll',
    says: 'CPU of Redis for a poll',
    target: 'at most 300 us',
    command: BENCH,
    covers: ['packages/bus/src'],
    short: shared('a vote is recorded with three commands; one write per turn of the event loop'),
  },
  {
    id: 'poll-cpu',
    says: 'CPU of all processes for a synchronous poll of seven models',
    target: 'at most 2.0 ms',
    command: '`npm run bench -- --only life`',
    covers: [...RUNNING, ...GATEWAY],
    short: {
      tried:
        'a queue of our own, query plans that are made once, fewer statements, round trips and writes, polls that are accepted, claimed and ended together, shorter constraints (0042 to 0044, 0050 to 0052, 0058 to 0060)',
      takes:
        'open polls in their own table, so that the end of a poll updates no list index; no claims (accept selects an idle worker, and the job contains the poll); grouped accepts of several accounts',
    },
  },
  {
    id: 'peer-latency',
    says: 'Duration of a poll of seven models, one poll at a time, compared with seven parallel calls through Portkey',
    target: 'at most half of the time',
    command: '`npm run bench -- --peer`',
    covers: [...RUNNING, ...GATEWAY],
    short: shared(
      'jobs that are sent to an idle worker, and what poll-cpu lists. Almost all of the time is CPU, of one process after the other',
    ),
  },
  {
    id: 'peer-rate',
    says: 'Polls per second, 32 at once and everything stored, compared with sets of seven calls through Portkey',
    target: 'at least 3 x',
    command: '`npm run bench -- --peer`',
    covers: [...RUNNING, ...GATEWAY],
    short: shared('the same as for peer-latency'),
  },
  {
    id: 'cold-start',
    says: 'Cold start of a gateway',
    target: 'at most 6 N (N: the start of an empty Node process)',
    command: BENCH,
    covers: ['apps/gateway/src'],
    short: {
      tried:
        "compiled bundles, Node's own modules without undici, and lazy creation of everything that is not needed at start (0061)",
      takes: 'fewer routes, or routes that are registered at their first use: a quarter of the remaining time',
    },
  },
  {
    id: 'worker-core',
    says: 'Polls per second of a worker on one core',
    target: 'at least .35 of the rate of sets of seven bare model calls',
    command: BENCH,
    covers: RUNNING,
    short: shared(TRIED),
  },
  {
    id: 'accepting',
    says: 'Accepting a session',
    target: 'at least .18 of the rate of a POST that only validates its body (A0)',
    command: BENCH,
    covers: [...GATEWAY, 'packages/storage/sql'],
    short: shared(TRIED),
  },
  {
    id: 'poll-overhead',
    says: 'Time of a poll without its models; time to its first model call; time to the first event of a stream',
    target: 'at most 1.2, .3, .4 ms',
    command: BENCH,
    covers: RUNNING,
    short: shared(TRIED),
  },
  {
    id: 'relay',
    says: 'Relay of an event to a client',
    target: 'at most 2 P0 (P0: from a PUBLISH of Redis to its message)',
    command: BENCH,
    covers: STREAMS,
    short: shared(TRIED),
  },
  {
    id: 'pages',
    says: 'First paint at 1.6 Mbit/s, 150 ms latency and a four times slower CPU',
    target: 'under 1 s',
    command:
      'by hand, in a browser with these limits; `npm test -- apps/gateway/test/pages/pages-look.test.ts` checks sizes',
    covers: ['apps/gateway/src/pages'],
  },
  {
    id: 'soak',
    says: 'Twenty minutes at ten polls per second',
    target: 'all polls answered, memory flat',
    command: '`npm run bench -- --only soak`',
    covers: RUNNING,
  },
];
