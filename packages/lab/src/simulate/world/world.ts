import type { Vote } from '@eloquentpoll/contracts';
import { type VirtualClock, virtualClock } from '@eloquentpoll/testkit/virtual-clock';
import { type Chance, chance } from '../../terminal/chance.ts';
import type { ModelAnswer } from '../model-call.ts';
import { type Effects, effects, type Weather } from './effects.ts';
import { type ModelBus, modelBus } from './model-bus.ts';
import { type ModelStore, modelStore } from './model-store.ts';
import { type SimulatedProcess, simulatedProcess } from './process.ts';
import { drawAnswer, type Temper } from './provider.ts';
import type { Tampering, Worker } from './worker.ts';

// A world in which polls run: one store, one bus, providers, a common clock, and a history of what an outsider could
// have seen. It has no rules of the engine, only its surroundings.

export interface History {
  readonly asked: {
    at: number;
    process: string;
    pollId: string;
    seat: number;
    epoch: number;
    /** The seat's vote was already in the log, or the poll had ended. */
    known: boolean;
    /** The worker could not have known, because it could not read the log. */
    excused: boolean;
  }[];
  /** All answers of models, whether or not a worker received them. */
  readonly answered: { pollId: string; vote: Vote }[];
  /** Votes that the log accepted, in this order. */
  readonly logged: { pollId: string; vote: Vote }[];
  readonly endings: {
    at: number;
    process: string;
    pollId: string;
    epoch: number;
    /** The newest epoch when the write arrived. */
    newest: number;
    outcome: 'stored' | 'fenced';
    changed: boolean;
  }[];
  /** Calls to models that have not ended. */
  readonly open: Set<{ process: string; deaf: boolean }>;
  readonly faults: { at: number; kind: string; what: string }[];
  readonly runFailures: { at: number; pollId: string; error: unknown }[];
}

export interface World {
  readonly clock: VirtualClock;
  readonly chance: Chance;
  readonly store: ModelStore;
  readonly bus: ModelBus;
  readonly effects: Effects;
  readonly sweepLock: SweepLock;
  readonly idle: Set<() => void>;
  readonly history: History;
  readonly workers: Worker[];
  readonly tamper: Tampering;
  readonly onRunFailed: (pollId: string, error: unknown) => void;
  /** What the next call for this seat will return. */
  answer(pollId: string, seat: number): ModelAnswer;
  process(name: string): SimulatedProcess;
}

export interface SweepLock {
  take(process: SimulatedProcess): boolean;
  leave(process: SimulatedProcess): void;
}

/** A lock held for longer counts as abandoned. */
const SWEEP_LOCK_MS = 5_000;

export function openWorld(seed: string, weather: Weather, temper: Temper, tamper: Tampering): World {
  const clock = virtualClock();
  const draw = chance(seed);
  const idle = new Set<() => void>();
  const wake = () => {
    for (const look of [...idle]) look();
  };
  const store = modelStore(() => clock.now());
  const calls = new Map<string, number>();
  const history: History = {
    asked: [],
    answered: [],
    logged: [],
    endings: [],
    open: new Set(),
    faults: [],
    runFailures: [],
  };
  return {
    clock,
    chance: draw,
    store,
    bus: modelBus(() => clock.now(), wake),
    effects: effects(clock, weather),
    sweepLock: sweepLock(clock),
    idle,
    history,
    workers: [],
    tamper,
    onRunFailed: (pollId, error) => history.runFailures.push({ at: clock.now(), pollId, error }),
    answer(pollId, seat) {
      const { spec } = store.polls.get(pollId)!.acceptance.poll;
      const call = `${pollId}/${seat}`;
      const nth = (calls.get(call) ?? 0) + 1;
      calls.set(call, nth);
      return drawAnswer(chance(`${seed}/${call}/${nth}`), temper, spec, seat);
    },
    process: (name) => simulatedProcess(name, clock, draw.whole(0, 1e6)),
  };
}

function sweepLock(clock: VirtualClock): SweepLock {
  let holder: SimulatedProcess | null = null;
  let since = 0;
  const isFree = () => holder === null || holder.dead || clock.now() - since > SWEEP_LOCK_MS;
  return {
    take(process) {
      if (!isFree()) return false;
      holder = process;
      since = clock.now();
      return true;
    },
    leave(process) {
      if (holder === process) holder = null;
    },
  };
}
