import { holdOf, newPollId, newResultId, pollResponse, pollState } from '@eloquentpoll/polls';
import type { FinishedPoll } from '@eloquentpoll/storage';
import { acceptPoll, type Claim, claimPoll, finishPoll } from '@eloquentpoll/storage';
import { fixtureSpec } from '../fixture/polls.ts';
import type { Bench } from './bench.ts';
import { QUESTION } from './polls.ts';

// Polls that no worker runs, for rows that are about reading, storing or streaming them.

const DEADLINE_MS = 3_600_000;

export async function openedPolls(
  bench: Bench,
  count: number,
  state: 'running' | 'ended' = 'running',
): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const id = await acceptOne(bench);
    if (state === 'ended') await finishPoll(bench.stores.storage, endOf(await claimed(bench, id)));
    ids.push(id);
  }
  return ids;
}

export async function acceptOne({ stores, panels, accountId }: Bench): Promise<string> {
  const spec = fixtureSpec(panels, QUESTION);
  const id = newPollId();
  const resultId = newResultId();
  const accepted = await acceptPoll(stores.storage, {
    poll: { id, resultId, accountId, spec, deadlineMs: DEADLINE_MS, entryPoint: 'polls' },
    holdU: holdOf(spec),
  });
  if (accepted.kind !== 'accepted') throw new Error(`a poll was not accepted: ${accepted.kind}`);
  return id;
}

export async function claimed({ stores }: Bench, id: string): Promise<Claim> {
  const claim = await claimPoll(stores.storage, id, 'bench', DEADLINE_MS);
  if (!claim) throw new Error(`poll ${id} could not be claimed`);
  return claim;
}

/** What a worker would store at the end of the poll. */
export function endOf({ id, epoch, resultId, spec }: Claim): FinishedPoll {
  const votes = spec.seats.map((seat, i) => ({
    seat: i,
    model_id: seat.model_id,
    option: i,
    error: null,
    latency_ms: 100 + i,
    billed_u: Math.min(seat.reserve_u, 345),
    provider_cost_u: null,
    labels: ['QJ', 'ZR', 'XK', 'WM', 'VN', 'TP', 'SL'],
    calls: 1,
    searched: false,
  }));
  const response = pollResponse({
    resultId,
    spec,
    state: pollState(spec, votes),
    reason: 'roster_exhausted',
    votes,
    gatherMs: 120,
    totalMs: 130,
    arrivals: [],
  });
  return { id, epoch, votes, response };
}
