import type { ProofRow } from '../proof-row.ts';
import { RUNNING, STREAMS } from './paths.ts';

const BENCH = '`npm run bench`';
const GATEWAY = ['apps/gateway/src', 'packages/bus/src'];

/** Crosses Postgres or the queue, whose wake-ups the anchors have none of. */
const shared = (tried: string) => ({
  tried,
  takes: 'fewer round trips to Postgres and Redis for each poll, and a quiet machine to see it',
});
const TRIED = 'what is kept, and what was tried without effect, stands at the end of this page';

/** Each beside its anchor in one run: H is a hello of Fastify (12 us of CPU), the others are named in `npm run bench`. */
export const SPEED: readonly ProofRow[] = [
  {
    id: 'status',
    says: 'Status of a running and of a finished session',
    target: '.40 H and .70 G; .55 H',
    command: BENCH,
    covers: GATEWAY,
    short: shared(TRIED),
  },
  {
    id: 'session-requests',
    says: 'Requests per session with `Prefer: wait`',
    target: '2',
    command: BENCH,
    covers: GATEWAY,
  },
  {
    id: 'streams',
    says: '5,000 streams on one gateway',
    target: 'nothing lost, 20 kB each',
    command: BENCH,
    covers: STREAMS,
    short: {
      tried:
        'one subscription for all streams of a poll. A stream keeps 8.7 kB alive (heap snapshots before and with 1,500 open); the rest of what the process grows by is a heap that was not collected',
      takes: 'a smaller young generation, which costs a gateway with load 5 % of CPU for each poll: left out',
    },
  },
  {
    id: 'result-store',
    says: 'Storing a result against a Kysely transaction',
    target: '1.5 x',
    command: BENCH,
    covers: RUNNING,
    short: shared(TRIED),
  },
  {
    id: 'idle-memory',
    says: 'Memory of an idle gateway, of a worker with 50 polls',
    target: '120 MB, 170 MB',
    command: BENCH,
    covers: [...GATEWAY, 'apps/worker/src'],
    short: {
      tried:
        'what a gateway loads when it is first asked (0061): objects alive after a collection fell from 25.3 to 21.6 MB, resident memory did not, because V8 doubles the young generation while routes are registered',
      takes:
        'fewer routes. `--max-semi-space-size=8` gives 125 MB, and costs gateway and worker 5 % of CPU for each poll: left out',
    },
  },
  {
    id: 'redis-per-poll',
    says: 'Redis per poll',
    target: '300 us',
    command: BENCH,
    covers: ['packages/bus/src'],
    short: shared('a vote recorded in three commands, one write per turn of the event loop'),
  },
  {
    id: 'poll-cpu',
    says: 'CPU of all processes for a synchronous poll of seven models',
    target: '2.0 ms',
    command: '`npm run bench -- --only life`',
    covers: [...RUNNING, ...GATEWAY],
    short: {
      tried:
        'a queue of our own, plans that are made once, fewer statements, fewer trips and writes, accepts, claims and ends together, short constraints (0042 to 0044, 0050 to 0052, 0058 to 0060)',
      takes:
        'open polls in a table of their own, so that an end touches no index of lists; no claim: accept names an idle worker and the job carries the poll; accepts of several accounts together',
    },
  },
  {
    id: 'peer-latency',
    says: 'A poll of seven models, one at a time, against seven calls at once through Portkey',
    target: 'half of its time',
    command: '`npm run bench -- --peer`',
    covers: [...RUNNING, ...GATEWAY],
    short: shared(
      'jobs that are sent to an idle worker, and the work of the row above: nearly all of the time is CPU, one process after the other',
    ),
  },
  {
    id: 'peer-rate',
    says: 'Polls per second, 32 at once and everything stored, against sets of seven calls through Portkey',
    target: '3 x',
    command: '`npm run bench -- --peer`',
    covers: [...RUNNING, ...GATEWAY],
    short: shared('the same'),
  },
  {
    id: 'cold-start',
    says: 'Cold start of a gateway',
    target: '6 N, the start of an empty Node',
    command: BENCH,
    covers: ['apps/gateway/src'],
    short: {
      tried:
        "compiled bundles, Node's own modules without undici, everything that can wait is made when it is asked for (0061)",
      takes: 'fewer routes, or routes that are registered when they are first asked for: a quarter of what is left',
    },
  },
  {
    id: 'worker-core',
    says: 'Polls per second of one core of a worker',
    target: '.35 of seven bare model calls',
    command: BENCH,
    covers: RUNNING,
    short: shared(TRIED),
  },
  {
    id: 'accepting',
    says: 'Accepting a session',
    target: '.18 A0',
    command: BENCH,
    covers: [...GATEWAY, 'packages/storage/sql'],
    short: shared(TRIED),
  },
  {
    id: 'poll-overhead',
    says: 'A poll beyond its models; its first model call; first event of a stream',
    target: '1.2, .3, .4 ms',
    command: BENCH,
    covers: RUNNING,
    short: shared(TRIED),
  },
  {
    id: 'relay',
    says: 'Relay of an event to a reader',
    target: '2 P0',
    command: BENCH,
    covers: STREAMS,
    short: shared(TRIED),
  },
  {
    id: 'pages',
    says: 'First paint at 1.6 Mbit/s, 150 ms and a CPU four times slower',
    target: 'under 1 s',
    command: '`npm test -- apps/gateway/test/pages/pages-look.test.ts` for the sizes',
    covers: ['apps/gateway/src/pages'],
  },
  {
    id: 'soak',
    says: 'Twenty minutes at ten polls per second',
    target: 'all answered, memory flat',
    command: '`npm run bench -- --only soak`',
    covers: RUNNING,
  },
];
