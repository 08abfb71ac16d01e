import type { ModelExchange } from '../../fixture/simulators.ts';
import type { CampaignHistory } from '../history.ts';
import { resumesOf, tookMs } from '../resumes.ts';
import { CLOCK_MS } from './can-strike.ts';
import { endsByWorkers } from './poll-rules.ts';
import { type CampaignRule, countBy, seatKey, tooManyLate } from './rule.ts';

export const RESUME_WITHIN_MS = 15_000;
/** A worker loses a poll 5 s after its deadline, and a sweep finds the poll within 4 s. */
const LATE_MS = 15_000;
/** Below so many, a share may be chance. */
const MANY = 100;
const MOST = 0.5;

/** Additional rules while only workers fail: stores and network are always up. */
export const workerRules: readonly CampaignRule[] = [
  {
    name: `every poll ends within ${LATE_MS / 1_000} s of its deadline`,
    broken: ({ polls }) =>
      polls
        .filter(({ finishedAt, deadlineAt }) => (finishedAt ?? 0) > deadlineAt + LATE_MS)
        .map(({ id, finishedAt, deadlineAt }) => `${id} ended ${Math.round(finishedAt! - deadlineAt)} ms late`),
  },
  {
    name: 'a vote that has arrived is never asked for again',
    broken: (history) => callsMadeAgain(history).map(({ seat, lateMs }) => `${seat} asked ${lateMs} ms after its vote`),
  },
  {
    // When a call was made is said by its worker, so a late call must not be excused by that alone.
    name: 'a call that reaches its model after the vote was under way while a worker was stopped',
    broken: (history) =>
      inTransit(history)
        .filter((call) => !wasStopped(call, history.faults))
        .map((call) => `${seatKey(call)} came ${call.at - call.madeAt} ms after it was made`),
  },
  {
    name: 'most votes are seen to arrive, and most ends are held against a worker',
    broken: (history) => [
      ...tooFew('votes were seen to arrive', votesSeen(history), validVotes(history)),
      ...tooFew('ends were held against a worker', endsByWorkers(history).length, endsOfClaimed(history)),
    ],
  },
  {
    name: 'every vote is stored once, and billed when it is valid',
    broken: ({ votes }) => [
      ...[...countBy(votes, seatKey)].filter(([, count]) => count > 1).map(([key]) => `${key} is stored twice`),
      ...votes
        .filter(({ option, billedU }) => option !== null && billedU === 0n)
        .map((vote) => `${seatKey(vote)} is not billed`),
    ],
  },
  {
    name: `polls of a killed worker are claimed again, p99 within ${RESUME_WITHIN_MS / 1_000} s`,
    broken(history) {
      return tooManyLate(resumesOf(history).map(tookMs), RESUME_WITHIN_MS);
    },
  },
];

/** Nothing is found where nothing was looked at: a judge that no longer sees what it judges must not call it right. */
const tooFew = (what: string, seen: number, all: number): string[] =>
  all >= MANY && seen < MOST * all ? [`${seen} of ${all} ${what}`] : [];

const validVotes = ({ votes }: CampaignHistory): number => votes.filter(({ option }) => option !== null).length;

/** Not those that were canceled before any worker had them. */
const endsOfClaimed = ({ journal }: CampaignHistory): number =>
  journal.filter(({ kind, epoch }) => kind === 'ended' && epoch > 0).length;

/** Stored votes whose arrival was seen. Only such a vote can be found to be asked for again. */
export function votesSeen(history: CampaignHistory): number {
  const arrived = arrivalTimes(history);
  return history.votes.filter((vote) => vote.option !== null && arrived.has(seatKey(vote))).length;
}

/** How often a call could have been made again: votes that had arrived, each time their poll was claimed again. */
export function votesTakenOver(history: CampaignHistory): number {
  const arrived = Map.groupBy(arrivalTimes(history), ([seat]) => seat.split(' ')[0]!);
  return history.journal
    .filter(({ kind, epoch }) => kind === 'claimed' && epoch > 1)
    .map(({ pollId, at }) => (arrived.get(pollId) ?? []).filter(([, arrivedAt]) => arrivedAt < at).length)
    .reduce((sum, count) => sum + count, 0);
}

export function callsMadeAgain(history: CampaignHistory): { seat: string; lateMs: number }[] {
  const arrived = arrivalTimes(history);
  return history.calls
    .filter((call) => call.madeAt > (arrived.get(seatKey(call)) ?? Number.POSITIVE_INFINITY))
    .map((call) => ({ seat: seatKey(call), lateMs: call.madeAt - arrived.get(seatKey(call))! }));
}

/**
 * First calls that a model received after the vote of their seat had arrived: the worker was stopped between its
 * decision and the socket. No fence can prevent them; the operator pays for them, not the caller.
 */
export const callsInTransit = (history: CampaignHistory): number =>
  inTransit(history).filter(({ attempt }) => attempt === 1).length;

function inTransit(history: CampaignHistory): ModelExchange[] {
  const arrived = arrivalTimes(history);
  return history.calls.filter((call) => {
    const voteAt = arrived.get(seatKey(call)) ?? Number.POSITIVE_INFINITY;
    return call.madeAt <= voteAt && call.at > voteAt;
  });
}

const wasStopped = ({ madeAt, at }: ModelExchange, faults: CampaignHistory['faults']): boolean =>
  faults.some(
    ({ kind, at: from, until }) => kind === 'stop worker' && from <= at + CLOCK_MS && until >= madeAt - CLOCK_MS,
  );

function arrivalTimes({ arrivals, polls }: CampaignHistory): Map<string, number> {
  const seats = new Map(polls.map(({ id, modelIds }) => [id, modelIds]));
  const times = new Map<string, number>();
  for (const { pollId, modelId, at } of arrivals) {
    const seat = seats.get(pollId)?.indexOf(modelId) ?? -1;
    const key = seatKey({ pollId, seat });
    if (seat >= 0) times.set(key, Math.min(at, times.get(key) ?? Number.POSITIVE_INFINITY));
  }
  return times;
}
