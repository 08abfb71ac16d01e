import type { PollResponse, Vote } from '@eloquentpoll/contracts';
import { electionFaults, electionIn } from '../../fixture/election.ts';
import type { Rule } from '../rule.ts';
import { Unavailable } from './effects.ts';
import type { Transfer } from './model-ledger.ts';
import type { PollRow } from './model-store.ts';
import type { Played } from './play-world.ts';

// The rules for every world.

/** Maximum time from the deadline, or from the last fault if that is later, to the end of a poll. */
export const MAX_LATE_MS = 40_000;

const polls = ({ world }: Played): PollRow[] => [...world.store.polls.values()];
const found = <T>(item: T | undefined, describe: (item: T) => string): string | null =>
  item === undefined ? null : describe(item);
const sumU = (transfers: readonly Transfer[]): bigint => transfers.reduce((sum, { amountU }) => sum + amountU, 0n);

const isSameVote = (one: Vote, other: Vote): boolean =>
  one.seat === other.seat && one.option === other.option && one.billed_u === other.billed_u;

/** The money of a poll, for rules that hold whatever happened to it. */
function moneyOf({ world }: Played, poll: PollRow) {
  const own = world.store.books.transfers.filter((transfer) => transfer.pollId === poll.id);
  const kind = (name: Transfer['kind']) => own.filter((transfer) => transfer.kind === name);
  return {
    holds: kind('hold'),
    resolutions: [...kind('post'), ...kind('void')],
    capturedU: sumU(kind('post')),
    billedU: poll.votes.reduce((sum, vote) => sum + BigInt(vote.billed_u), 0n),
    maxCostU: BigInt(poll.acceptance.poll.spec.max_cost_u),
  };
}

/** The stored response as announced to followers: polls paid by the free pool are shown without amounts. */
function announced({ acceptance, detail }: PollRow): string | null {
  if (detail === null || !acceptance.poll.spec.panel_name.startsWith('free')) return detail;
  const result = JSON.parse(detail) as PollResponse;
  const votes = result.votes.map((vote) => ({ ...vote, estimated_cost: 0 }));
  return JSON.stringify({ ...result, votes, costs: { total_estimated_cost: 0 } });
}

/** How late a poll ended, or would have, counted from its deadline or the last fault. */
export function latenessMs(played: Played, poll: PollRow): number {
  const due = Math.max(poll.deadlineAt, played.calmAtMs);
  return (poll.finishedAt ?? played.endedAtMs) - due;
}

export const WORLD_RULES: readonly Rule<Played>[] = [
  {
    name: 'a poll is stored once',
    broken: (played) =>
      found(
        polls(played).find(
          (poll) =>
            played.world.history.endings.filter((ending) => ending.pollId === poll.id && ending.changed).length !==
            (poll.status === 'running' ? 0 : 1),
        ),
        (poll) => `${poll.id} is ${poll.status}`,
      ),
  },
  {
    name: 'a write under an old epoch changes nothing',
    broken: ({ world }) =>
      found(
        world.history.endings.find((ending) => ending.changed && ending.epoch !== ending.newest),
        (ending) => `${ending.process} wrote ${ending.pollId} under epoch ${ending.epoch} of ${ending.newest}`,
      ),
  },
  {
    name: 'a seat is billed once at most, for a vote that was asked for',
    broken: (played) =>
      found(
        polls(played).find((poll) => {
          const seats = poll.votes.map((vote) => vote.seat);
          const asked = (seat: number) =>
            played.world.history.asked.some((call) => call.pollId === poll.id && call.seat === seat);
          return (
            new Set(seats).size !== seats.length ||
            poll.votes.some(({ billed_u, option, seat }) => billed_u > 0 && (option === null || !asked(seat)))
          );
        }),
        (poll) => `${poll.id}: ${JSON.stringify(poll.votes)}`,
      ),
  },
  {
    name: 'every stored vote is one that its model answered',
    broken: (played) =>
      found(
        polls(played)
          .flatMap(({ id, votes }) => votes.map((vote) => ({ id, vote })))
          .find(
            ({ id, vote }) =>
              vote.option !== null &&
              !played.world.history.answered.some(({ pollId, vote: said }) => pollId === id && isSameVote(said, vote)),
          ),
        ({ id, vote }) => `${id}: ${JSON.stringify(vote)}`,
      ),
  },
  {
    name: 'a vote that is logged is in the result, where Redis was there all the time',
    broken(played) {
      const { store, history } = played.world;
      if (history.faults.some(({ kind }) => kind === 'FLUSHALL' || kind === 'away' || kind.startsWith('fails')))
        return null;
      return found(
        history.logged.find(({ pollId, vote }) => {
          const poll = store.polls.get(pollId)!;
          return poll.detail !== null && !poll.votes.some((kept) => isSameVote(kept, vote));
        }),
        ({ pollId, vote }) => `${pollId}: ${JSON.stringify(vote)}`,
      );
    },
  },
  {
    name: 'what is stored of an election follows from its votes',
    broken(played) {
      for (const { id, votes, detail, acceptance } of polls(played)) {
        if (detail === null) continue;
        const { options, seats } = acceptance.poll.spec;
        const election = electionIn(JSON.parse(detail));
        if (!election) return `${id}: no election`;
        const stored = votes.map(({ option }) => (option === null ? null : options[option]));
        const said = election.votes.map(({ chosen_option }) => chosen_option);
        if (stored.join() !== said.join()) return `${id} says ${said}, stored votes are ${stored}`;
        const wrong = electionFaults(election, { seats: seats.length, hasOlderRules: false });
        if (wrong.length > 0) return `${id} ${wrong.join('; ')}`;
      }
      return null;
    },
  },
  {
    name: 'captured = billed <= hold <= max cost',
    broken: (played) =>
      found(
        polls(played).find((poll) => {
          const { holds, capturedU, billedU, maxCostU } = moneyOf(played, poll);
          const holdU = sumU(holds);
          return capturedU !== billedU || capturedU > holdU || holdU > (maxCostU > 1n ? maxCostU : 1n);
        }),
        (poll) => `${poll.id}: captured ${moneyOf(played, poll).capturedU}, billed ${moneyOf(played, poll).billedU}`,
      ),
  },
  {
    name: 'the books balance, and every ended poll has settled its one hold',
    broken(played) {
      const { balances, transfers } = played.world.store.books;
      for (const [accountId, balance] of balances) {
        const own = (kind: Transfer['kind']) =>
          transfers.filter((transfer) => transfer.accountId === accountId && transfer.kind === kind);
        const open = own('hold').filter(
          ({ pollId }) => ![...own('post'), ...own('void')].some((resolution) => resolution.pollId === pollId),
        );
        const [creditedU, usedU, heldU] = [sumU(own('credit')), sumU(own('post')), sumU(open)];
        if (balance.postedU !== creditedU - usedU || balance.usedU !== usedU || balance.heldU !== heldU)
          return `posted ${balance.postedU}, used ${balance.usedU}, held ${balance.heldU}: transfers say otherwise`;
        if (balance.postedU - balance.heldU < 0n) return `available ${balance.postedU - balance.heldU}`;
      }
      return found(
        polls(played).find((poll) => {
          const { holds, resolutions } = moneyOf(played, poll);
          return holds.length !== 1 || resolutions.length !== (poll.status === 'running' ? 0 : 1);
        }),
        (poll) => `${poll.id} is ${poll.status}: ${JSON.stringify(moneyOf(played, poll), text)}`,
      );
    },
  },
  {
    name: 'no model is asked for a vote that is in the log, or in a poll that has ended',
    broken: ({ world }) =>
      found(
        world.history.asked.find((call) => call.known && !call.excused),
        (call) => `${call.process} asked seat ${call.seat} of ${call.pollId} at ${call.at}`,
      ),
  },
  {
    name: 'a worker asks a seat once',
    broken({ world }) {
      const calls = world.history.asked.map((call) => `${call.process} ${call.pollId} ${call.epoch} ${call.seat}`);
      return found(
        calls.find((call, i) => calls.indexOf(call) !== i),
        (call) => call,
      );
    },
  },
  {
    name: 'every accepted poll ends in time once nothing goes wrong any more',
    broken: (played) =>
      found(
        polls(played).find((poll) => poll.status === 'running' || latenessMs(played, poll) > MAX_LATE_MS),
        (poll) => `${poll.id} is ${poll.status}, ${latenessMs(played, poll)} ms late`,
      ),
  },
  {
    name: 'a run of a poll fails only because something that it needs is away',
    broken: ({ world }) =>
      found(
        world.history.runFailures.find(({ error }) => !(error instanceof Unavailable)),
        ({ at, pollId, error }) => `${pollId} at ${at}: ${error instanceof Error ? error.stack : error}`,
      ),
  },
  {
    name: 'one poll for one key, and every id that was answered has its poll',
    broken(played) {
      const keys = polls(played).map((poll) => poll.acceptance.idempotency?.key);
      if (new Set(keys).size !== keys.length) return `keys ${keys}`;
      return found(
        played.outcomes.find(
          (outcome) =>
            outcome === null || (outcome.kind === 'accepted' && !played.world.store.polls.has(outcome.pollId)),
        ),
        (outcome) => JSON.stringify(outcome),
      );
    },
  },
  {
    name: 'the end is published once at most, as it is stored, and not before',
    broken: (played) =>
      found(
        polls(played).find((poll) => {
          const ends = played.world.bus.published.filter(
            ({ snapshot }) => snapshot.poll_id === poll.id && snapshot.status !== 'running',
          );
          return (
            ends.length > 1 ||
            ends.some(
              ({ at, snapshot }) =>
                poll.finishedAt === null ||
                at < poll.finishedAt ||
                snapshot.status !== poll.status ||
                (snapshot.result === null ? null : JSON.stringify(snapshot.result)) !== announced(poll),
            )
          );
        }),
        (poll) => `${poll.id} is ${poll.status}`,
      ),
  },
  {
    name: 'the end is published where no fault prevents it',
    broken: (played) =>
      played.world.history.faults.length > 0
        ? null
        : found(
            polls(played).find(
              (poll) =>
                !played.world.bus.published.some(
                  ({ snapshot }) => snapshot.poll_id === poll.id && snapshot.status !== 'running',
                ),
            ),
            (poll) => poll.id,
          ),
  },
  {
    name: 'snapshots of a poll are numbered upwards',
    broken({ world }) {
      const newest = new Map<string, number>();
      // A Redis that lost everything has lost its fence too; readers keep the highest number.
      const flushed = world.history.faults.find((fault) => fault.kind === 'FLUSHALL')?.at ?? Number.POSITIVE_INFINITY;
      for (const { at, snapshot } of world.bus.published) {
        if (at >= flushed) return null;
        const last = newest.get(snapshot.poll_id) ?? -1;
        if (snapshot.seq <= last) return `${snapshot.poll_id}: ${snapshot.seq} after ${last}`;
        newest.set(snapshot.poll_id, snapshot.seq);
      }
      return null;
    },
  },
  {
    name: 'nothing is left of polls that ended: no job, lease or call',
    broken({ world }) {
      const leases = world.workers.filter(({ process }) => !process.dead).map(({ context }) => context.leases.size);
      const alive = new Set(world.workers.filter(({ process }) => !process.dead).map(({ process }) => process.name));
      const open = [...world.history.open].filter((call) => alive.has(call.process) && !call.deaf);
      const left = world.bus.jobs() + leases.reduce((sum, size) => sum + size, 0) + open.length;
      return left === 0 ? null : `${world.bus.jobs()} jobs, leases ${leases}, ${open.length} calls`;
    },
  },
];

const text = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
