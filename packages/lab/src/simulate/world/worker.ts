import type { Vote } from '@eloquentpoll/contracts';
import type { Finish, Finished, FinishedPoll } from '@eloquentpoll/storage';
import { unanswered } from '@eloquentpoll/worker/collect-votes';
import type { Context } from '@eloquentpoll/worker/context';
import { NO_EVIDENCE } from '@eloquentpoll/worker/evidence';
import { hedgeBudget } from '@eloquentpoll/worker/hedge-budget';
import { keepLeases } from '@eloquentpoll/worker/leases';
import type { Ask, PollBus, PollStore } from '@eloquentpoll/worker/ports';
import { type Serving, servePolls } from '@eloquentpoll/worker/serve-polls';
import { callModel } from '../model-call.ts';
import type { SimulatedProcess } from './process.ts';
import { consumePolls } from './queue-consumer.ts';
import type { World } from './world.ts';

// One worker of the simulated world: the production poll engine, connected to the models of store, bus and providers.
// Its actions are recorded for the judge.

export interface Worker {
  readonly process: SimulatedProcess;
  readonly context: Context;
  readonly serving: Serving;
}

/** Changes the ports of a worker; used to plant a bug. */
export type Tampering = (context: Context, world: World) => Context;

export function hireWorker(world: World, process: SimulatedProcess, concurrency: number): Worker {
  const { name: workerId, clock } = process;
  const known: Known = { claims: new Map(), blind: new Set<string>() };
  const polls = storePort(world, process, known);
  const context: Context = world.tamper(
    {
      workerId,
      polls,
      bus: busPort(world, process, known),
      ask: askPort(world, process, known),
      leases: keepLeases(polls, workerId, clock, () => {}),
      audits: null,
      hedges: hedgeBudget(),
      freeFailures: { atLeastU: 0n, sharePpm: 0 },
      evidence: NO_EVIDENCE,
      clock,
      random: world.chance.share,
      log: { info() {}, warn() {}, error() {} },
      [Symbol.asyncDispose]: async () => {},
    },
    world,
  );
  return { process, context, serving: servePolls(context, { concurrency }) };
}

/** What excuses a worker: the epoch under which it runs a poll, and what it could not find out. */
interface Known {
  readonly claims: Map<string, { epoch: number; at: number }>;
  /** Polls whose earlier votes it could not read. */
  readonly blind: Set<string>;
}

function storePort(world: World, process: SimulatedProcess, known: Known): PollStore {
  const { store, effects, clock } = world;
  const perform = <T>(what: string, pollId: string | null, effect: () => T) =>
    effects.perform(process, 'store', what, pollId, effect);
  async function claimed(pollId: string, claim: Promise<Awaited<ReturnType<PollStore['claim']>>>) {
    const got = await claim;
    if (got) known.claims.set(pollId, { epoch: got.epoch, at: clock.now() });
    return got;
  }
  const ending =
    <T extends Finish | Finished>(id: string, epoch: number, write: () => T) =>
    () => {
      const before = fingerprint(world, id);
      const newest = store.polls.get(id)?.leaseEpoch ?? 0;
      const ended = write();
      const outcome: Finish = typeof ended === 'object' ? ended.outcome : ended;
      const changed = fingerprint(world, id) !== before;
      world.history.endings.push({
        at: clock.now(),
        process: process.name,
        pollId: id,
        epoch,
        newest,
        outcome,
        changed,
      });
      return ended;
    };
  return {
    claim: (id, worker) =>
      claimed(
        id,
        perform('claim', id, () => store.claim(id, worker)),
      ),
    claimOverdue: (id, worker, ms) =>
      claimed(
        id,
        perform('claim overdue', id, () => store.claimOverdue(id, worker, ms)),
      ),
    renew: (worker, leases) => perform('renew leases', null, () => store.renew(worker, leases)),
    release: (lease) => perform('release', lease.id, () => store.release(lease)),
    finish: (poll: FinishedPoll) =>
      perform(
        'store the result',
        poll.id,
        ending(poll.id, poll.epoch, () => store.finish(poll)),
      ),
    bury: (poll) =>
      perform(
        'bury',
        poll.id,
        ending(poll.id, poll.epoch, () => store.bury(poll)),
      ),
    // Panels of a simulated world have no audits.
    trackRecord: async () => null,
    findLapsed: (limit, skip) => perform('find lapsed polls', null, () => store.findLapsed(limit, skip)),
    findOverdue: (limit, graceMs) => perform('find overdue polls', null, () => store.findOverdue(limit, graceMs)),
    // There is no ceiling of provider spend either.
    spendWaitMs: async () => null,
    // Not a crash point: it changes nothing, and only the next sweep depends on it.
    nextLapse: async (withinMs) => store.nextLapse(withinMs),
    async sweepAlone(work) {
      if (!(await perform('take the sweep lock', null, () => world.sweepLock.take(process)))) return false;
      try {
        await work();
      } finally {
        await perform('leave the sweep lock', null, () => world.sweepLock.leave(process));
      }
      return true;
    },
    beat: () => perform('beat', null, () => {}),
    prune: () => perform('prune', null, () => 0),
  };
}

const fingerprint = ({ store }: World, id: string): string => {
  const { acceptance: _, ...row } = store.polls.get(id) ?? { acceptance: null };
  return JSON.stringify({ row, transfers: store.books.transfers.length });
};

function busPort(world: World, process: SimulatedProcess, known: Known): PollBus {
  const { bus, effects } = world;
  const perform = <T>(what: string, pollId: string | null, effect: () => T) =>
    effects.perform(process, 'bus', what, pollId, effect);
  return {
    queueCounts: () => perform('count the jobs', null, () => ({ waiting: bus.jobs(), active: 0, oldestAt: null })),
    queueWaiting: () => perform('count the jobs', null, () => bus.jobs()),
    enqueuePoll: (id, { round } = {}) => perform('enqueue', id, () => bus.enqueue(id, round)),
    consumePolls: consumePolls(process, world),
    runs: {
      open: (id, epoch, owner, snapshot) =>
        perform('announce the start', id, () => bus.open(id, epoch, owner, snapshot)),
      vote: (id, epoch, vote, snapshot) =>
        perform(`log the vote of seat ${vote.seat}`, id, () => {
          const isLogged = bus.vote(id, epoch, vote, snapshot);
          if (isLogged) world.history.logged.push({ pollId: id, vote });
          return isLogged;
        }),
      end: (id, epoch, owner, snapshot) => perform('announce the end', id, () => bus.end(id, epoch, owner, snapshot)),
      async takeOver(id, epoch) {
        known.blind.add(id);
        const votes = await perform('take over the log', id, () => bus.takeOver(id, epoch));
        known.blind.delete(id);
        return votes;
      },
    },
  };
}

const lostSince = ({ history }: World, at: number): boolean =>
  history.faults.some((fault) => fault.kind === 'FLUSHALL' && fault.at >= at);

function askPort(world: World, process: SimulatedProcess, known: Known): Ask {
  return async ({ pollId, seat, deadlineMs }, { signal, beforeCall }): Promise<Vote> => {
    const { spec } = world.store.polls.get(pollId)!.acceptance.poll;
    if (!(await beforeCall()) || signal.aborted) return unanswered(spec, seat, 'aborted', 0);
    const claimed = known.claims.get(pollId) ?? { epoch: 0, at: 0 };
    world.history.asked.push({
      at: world.clock.now(),
      process: process.name,
      pollId,
      seat,
      epoch: claimed.epoch,
      known:
        world.bus.votes(pollId).some((vote) => vote.seat === seat) ||
        world.store.polls.get(pollId)?.status !== 'running',
      // A Redis that lost everything has lost its fence too: earlier workers may log votes again that are not read.
      excused: known.blind.has(pollId) || lostSince(world, claimed.at),
    });
    const answer = world.answer(pollId, seat);
    world.history.answered.push({ pollId, vote: answer.vote });
    const call = { process: process.name, deaf: answer.ignoresAbort };
    world.history.open.add(call);
    try {
      await world.effects.perform(process, 'models', `ask seat ${seat}`, pollId, () => {});
      return await callModel(process.clock, { spec, seat, timeLeftMs: deadlineMs, signal }, answer);
    } catch {
      return unanswered(spec, seat, 'aborted', 0);
    } finally {
      world.history.open.delete(call);
    }
  };
}
