import { setTimeout as sleep } from 'node:timers/promises';
import type { Stores } from '../fixture/stores.ts';
import { type Chance, chance } from '../terminal/chance.ts';
import type { Crew, Worker } from './crew.ts';

// What strikes the workers, by several hands at once: some kill at random moments, others stop a worker for longer than
// its lease and let it go on, a zombie. The seed decides who, when and how long. Of each victim it is written down what
// it held and what had arrived for it.

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
  hands: Hands;
  signal: AbortSignal;
  onStrike(strike: Strike): void;
}

const KILL_GAP_MS = { low: 1_000, high: 5_000 };
const STOP_GAP_MS = { low: 200, high: 2_000 };
/** The lease is 8 s. */
const STOP_MS = { low: 8_500, high: 14_500 };

export interface Hands {
  readonly kill: number;
  readonly stop: number;
}

/** So that most of the workers work at any time. */
export const handsFor = (workers: number): Hands => ({ kill: Math.ceil(workers / 6), stop: Math.ceil(workers / 3) });

/** What the strikes need when nothing waits, for a bound on the whole. */
export function expectedMs(kills: number, stops: number, hands: Hands): number {
  const middle = ({ low, high }: { low: number; high: number }) => (low + high) / 2;
  return Math.max(
    (kills / hands.kill) * middle(KILL_GAP_MS),
    (stops / hands.stop) * (middle(STOP_GAP_MS) + middle(STOP_MS)),
  );
}

export async function strike(options: NemesisOptions): Promise<void> {
  const kinds = [
    { name: 'kills', times: options.kills, blow: kill, hands: options.hands.kill, gap: KILL_GAP_MS },
    { name: 'stops', times: options.stops, blow: stop, hands: options.hands.stop, gap: STOP_GAP_MS },
  ];
  await Promise.all(
    kinds.flatMap(({ name, times, blow, hands, gap }) => {
      let left = times;
      return Array.from({ length: hands }, async (_, hand) => {
        const draw = chance(`${options.seed}|${name}${hand === 0 ? '' : ` ${hand}`}`);
        while (left > 0) {
          left -= 1;
          await sleep(draw.whole(gap.low, gap.high), undefined, { signal: options.signal });
          const victim = await options.crew.victim((items) => draw.pick(items), options.signal);
          options.onStrike(await blow(options, victim, draw));
        }
      });
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
  worker.service.signal('SIGSTOP');
  const at = Date.now();
  try {
    const held = await heldBy(stores, worker.workerId);
    await sleep(ms, undefined, { signal });
    return { kind: 'stop', worker: worker.workerId, at, until: Date.now(), held };
  } finally {
    worker.service.signal('SIGCONT');
    worker.struck = false;
  }
}

async function heldBy({ query, bus }: Stores, worker: string): Promise<Strike['held']> {
  const polls = await query<{ id: string; lease_epoch: number }>(
    `select id, lease_epoch from polls where lease_owner = $1 and status = 'running'`,
    [worker],
  );
  return Promise.all(
    polls.map(async ({ id, lease_epoch }) => {
      const votes = await bus.runs.votes(id);
      return { pollId: id, epoch: lease_epoch, arrived: votes.map((vote) => vote.seat) };
    }),
  );
}
