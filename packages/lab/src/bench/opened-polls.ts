import { holdOf, newPollId, newResultId } from '@eloquentpoll/polls';
import type { FinishedPoll } from '@eloquentpoll/storage';
import { acceptPoll, type Claim, claimPoll, finishPoll } from '@eloquentpoll/storage';
import { specOf } from '../fixture/polls.ts';
import { QUESTION } from './polls.ts';
import type { Stage } from './stage.ts';

// Polls that no worker runs, for rows that are about reading, storing or streaming them.

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
  const id = newPollId();
  const resultId = newResultId();
  const accepted = await acceptPoll(stores.storage, {
    poll: { id, resultId, accountId, spec, deadlineMs: DEADLINE_MS, entryPoint: 'polls' },
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
    calls: 1,
    searched: false,
  }));
  const shownVotes = votes.map((vote) => ({
    model_id: vote.model_id,
    success: true,
    chosen_option: spec.options[vote.option] ?? null,
    transition: 'vote' as const,
    latency_ms: vote.latency_ms,
    estimated_cost: 0.000345,
    error: null,
  }));
  return {
    id,
    epoch,
    votes,
    response: {
      poll_id: resultId,
      status: 'success',
      outcome: 'tie',
      question: spec.question,
      options: spec.options,
      poll_type: 'fptp',
      winning_option: null,
      is_tie: true,
      confidence_threshold: spec.confidence_threshold,
      max_cost_usd: spec.max_cost_u / 1_000_000,
      early_terminated: false,
      termination_reason: 'roster_exhausted',
      models_skipped: 0,
      tally: Object.fromEntries(spec.options.map((option) => [option, 1])),
      votes: shownVotes,
      timing: { gather_ms: 120, total_ms: 130 },
      costs: { total_estimated_cost: 0.002415 },
      confidence: null,
      preset: spec.panel_name,
      simulated: true,
    },
  };
}
