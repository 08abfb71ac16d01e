import { setTimeout as sleep } from 'node:timers/promises';
import { type Chance, chance } from '../terminal/chance.ts';
import type { Crew, Worker } from './crew.ts';
import type { Stores } from './throw-away.ts';

// What strikes the workers. Two hands at once: one kills at random moments, the other stops a worker for longer than its
// lease and lets it go on, a zombie. The seed decides who, when and how long. Of each victim it is written down what it
// held and what had arrived for it.

export interface Strike {
  kind: 'kill' | 'stop';
  worker: string;
  at: number;
  /** When a stopped worker went on; for a killed one the moment of the kill. */
  until: number;
  held: { pollId: string; epoch: number; arrived: number[] }[];
}

export interface NemesisOptions {
  stores: Stores;
  crew: Crew;
  seed: string;
  kills: number;
  stops: number;
  signal: AbortSignal;
  onStrike(strike: Strike): void;
}

const KILL_GAP_MS = { low: 1_000, high: 5_000 };
const STOP_GAP_MS = { low: 200, high: 2_000 };
/** The lease is 8 s. */
const STOP_MS = { low: 8_500, high: 14_500 };

/** What the strikes need when nothing waits, for a bound on the whole. */
export function expectedMs(kills: number, stops: number): number {
  const middle = ({ low, high }: { low: number; high: number }) => (low + high) / 2;
  return Math.max(kills * middle(KILL_GAP_MS), stops * (middle(STOP_GAP_MS) + middle(STOP_MS)));
}

export async function strike(options: NemesisOptions): Promise<void> {
  const hands = [
    { times: options.kills, blow: kill, chance: chance(`${options.seed}|kills`), gap: KILL_GAP_MS },
    { times: options.stops, blow: stop, chance: chance(`${options.seed}|stops`), gap: STOP_GAP_MS },
  ];
  await Promise.all(
    hands.map(async ({ times, blow, chance, gap }) => {
      for (let i = 0; i < times; i++) {
        await sleep(chance.whole(gap.low, gap.high), undefined, { signal: options.signal });
        const victim = await options.crew.victim((items) => chance.pick(items), options.signal);
        options.onStrike(await blow(options, victim, chance));
      }
    }),
  );
}

async function kill({ stores, crew }: NemesisOptions, worker: Worker): Promise<Strike> {
  await crew.kill(worker);
  const at = Date.now();
  return { kind: 'kill', worker: worker.workerId, at, until: at, held: await heldBy(stores, worker.workerId) };
}

async function stop({ stores, signal }: NemesisOptions, worker: Worker, chance: Chance): Promise<Strike> {
  const ms = chance.whole(STOP_MS.low, STOP_MS.high);
  worker.stopped = true;
  worker.service.signal('SIGSTOP');
  const at = Date.now();
  try {
    const held = await heldBy(stores, worker.workerId);
    await sleep(ms, undefined, { signal });
    return { kind: 'stop', worker: worker.workerId, at, until: Date.now(), held };
  } finally {
    worker.service.signal('SIGCONT');
    worker.stopped = false;
  }
}

async function heldBy({ query, bus }: Stores, worker: string): Promise<Strike['held']> {
  const polls = await query<{ id: string; lease_epoch: number }>(
    `select id, lease_epoch from polls where lease_owner = $1 and status = 'running'`,
    [worker],
  );
  return Promise.all(
    polls.map(async ({ id, lease_epoch }) => {
      const ballots = await bus.runs.ballots(id);
      return { pollId: id, epoch: lease_epoch, arrived: ballots.map((ballot) => ballot.seat) };
    }),
  );
}
