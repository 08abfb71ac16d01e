import { type OrderOutcome, type PlacedOrder, place } from './client.ts';
import type { Weather } from './effects.ts';
import type { Temper } from './provider.ts';
import { hireWorker, type Tampering, type Worker } from './worker.ts';
import { openWorld, type World } from './world.ts';

// Plays a world from the first order until every poll has ended, and every paused process has resumed and finished what
// it could. Killed workers are replaced, as by a supervisor.

export interface Play {
  readonly seed: string;
  readonly weather: Weather;
  readonly temper: Temper;
  readonly orders: readonly PlacedOrder[];
  readonly balanceU: bigint;
  readonly workers: number;
  readonly concurrency: number;
  /** No new faults from this time on. */
  readonly calmAtMs: number;
  /** Time until a killed worker is replaced. */
  readonly rehireMs: number;
  /** Times when a worker gets a SIGTERM. */
  readonly departuresMs?: readonly number[];
  /** Times when Redis loses everything. */
  readonly flushesMs?: readonly number[];
  readonly tamper?: Tampering;
}

export interface Played {
  readonly world: World;
  readonly outcomes: readonly (OrderOutcome | null)[];
  readonly calmAtMs: number;
  readonly endedAtMs: number;
}

export const ACCOUNT = 'account';
/** A poll that still runs so long after its deadline and the last fault will never end. */
export const LIVENESS_MS = 60_000;
const LOOK_EVERY_MS = 250;
/** Covers a lease, a sweep, a stalled job of the last worker, and then the second job of an overdue poll. */
const AFTERMATH_MS = 25_000;
const DRAIN_MS = 5_000;

export function playWorld(play: Play): Promise<Played> {
  const world = openWorld(play.seed, play.weather, play.temper, play.tamper ?? ((context) => context));
  return world.clock.run(live(world, play));
}

async function live(world: World, play: Play): Promise<Played> {
  const { clock, store, bus, history } = world;
  store.credit(ACCOUNT, play.balanceU);
  world.effects.onFault((step, how) => {
    history.faults.push({ at: step.at, kind: how, what: `${step.what} of ${step.process}` });
  });

  let hired = 0;
  const hire = () => {
    const worker = hireWorker(world, world.process(`worker ${++hired}`), play.concurrency);
    world.workers.push(worker);
    return worker;
  };
  for (let i = 0; i < play.workers; i++) hire();
  for (const at of play.departuresMs ?? []) clock.after(at, () => depart(world));
  for (const at of play.flushesMs ?? []) {
    clock.after(at, () => {
      history.faults.push({ at, kind: 'FLUSHALL', what: 'Redis' });
      bus.flush();
    });
  }

  const outcomes: (OrderOutcome | null)[] = play.orders.map(() => null);
  play.orders.forEach((order, i) => {
    void place(world, order).then((outcome) => {
      outcomes[i] = outcome;
    });
  });

  const replaced = new Set<Worker>();
  const lastTrouble = () =>
    Math.max(
      play.calmAtMs,
      history.faults.at(-1)?.at ?? 0,
      ...world.workers.filter((worker) => !worker.process.dead).map((w) => w.process.pausedUntil),
    );
  let quietSince: number | null = null;
  for (;;) {
    await new Promise<void>((resolve) => clock.after(LOOK_EVERY_MS, resolve));
    for (const worker of world.workers) {
      if (!worker.process.dead || replaced.has(worker)) continue;
      replaced.add(worker);
      clock.after(play.rehireMs, hire);
    }
    const now = clock.now();
    const polls = [...store.polls.values()];
    const over = outcomes.every((outcome) => outcome !== null) && polls.every((poll) => poll.status !== 'running');
    const quiet = over && replaced.size === hired - play.workers;
    quietSince = quiet ? (quietSince ?? now) : null;
    const hopeless = Math.max(lastTrouble(), ...polls.map((poll) => poll.deadlineAt)) + LIVENESS_MS;
    const settled = quietSince !== null && now >= Math.max(quietSince, lastTrouble()) + AFTERMATH_MS;
    if (settled || now > hopeless) return { world, outcomes, calmAtMs: lastTrouble(), endedAtMs: now };
  }
}

/** A deploy: the oldest living worker drains, ends, and is replaced. */
function depart(world: World): void {
  const leaving = world.workers.find((worker) => !worker.process.dead);
  if (!leaving) return;
  world.history.faults.push({ at: world.clock.now(), kind: 'SIGTERM', what: leaving.process.name });
  void leaving.serving.drain(DRAIN_MS).then(() => {
    leaving.context.leases.stop();
    leaving.process.kill();
  });
}
