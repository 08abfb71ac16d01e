import { randomBytes } from 'node:crypto';
import type { FinishedPoll } from '@eloquentpoll/storage';
import { acceptPoll, type Claim, claimPoll, finishPoll } from '@eloquentpoll/storage';
import { holdOf, specOf } from '../faults/ask-polls.ts';
import { QUESTION } from './polls.ts';
import type { Stage } from './stage.ts';

// Polls that no worker runs, for rows that are about reading, storing or streaming them.

const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';
const draw = (length: number): string => Array.from(randomBytes(length), (byte) => LETTERS[byte & 31]).join('');
const DEADLINE_MS = 3_600_000;

export async function openedPolls(
  stage: Stage,
  count: number,
  state: 'running' | 'ended' = 'running',
): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const id = await acceptOne(stage);
    if (state === 'ended') await finishPoll(stage.stores.storage, endOf(await claimed(stage, id)));
    ids.push(id);
  }
  return ids;
}

export async function acceptOne({ stores, panels, accountId }: Stage): Promise<string> {
  const spec = specOf(panels, QUESTION);
  const id = `ps_${draw(24)}`;
  const resultId = `EP-2026-01-01-${draw(16)}`;
  const accepted = await acceptPoll(stores.storage, {
    poll: { id, resultId, accountId, spec, deadlineMs: DEADLINE_MS, surface: 'polls' },
    holdU: holdOf(spec),
  });
  if (accepted.kind !== 'accepted') throw new Error(`a poll was not accepted: ${accepted.kind}`);
  return id;
}

export async function claimed({ stores }: Stage, id: string): Promise<Claim> {
  const claim = await claimPoll(stores.storage, id, 'bench', DEADLINE_MS);
  if (!claim) throw new Error(`poll ${id} could not be claimed`);
  return claim;
}

/** What a worker would store of it. */
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
    attempts: 1,
    searched: false,
  }));
  const shownVotes = votes.map((vote) => ({
    model_id: vote.model_id,
    success: true,
    chosen_option: spec.options[vote.option] ?? null,
    transition: 'vote',
    latency_ms: vote.latency_ms,
    estimated_cost: 0.000345,
    error: null,
  }));
  return {
    id,
    epoch,
    status: 'completed',
    votes,
    result: {
      status: 'success',
      winningOption: null,
      isTie: true,
      earlyTerminated: false,
      terminationReason: 'roster_exhausted',
      modelsRequested: 7,
      modelsSucceeded: 7,
      modelsFailed: 0,
      modelsSkipped: 0,
      gatherMs: 120,
      totalMs: 130,
      detail: {
        poll_id: resultId,
        status: 'success',
        question: spec.question,
        options: spec.options,
        votes: shownVotes,
      },
    },
  };
}
