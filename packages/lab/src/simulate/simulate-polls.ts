import type { TerminationReason } from '@eloquentpoll/contracts';
import { holdOf } from '@eloquentpoll/polls';
import { conclude } from '@eloquentpoll/voting';
import { type OnSeed, playEachSeed, type SeedFigures, type Simulation } from './each-seed.ts';
import { capturedU, POLL_RULES } from './judge-poll.ts';
import { playPoll, type Trace } from './play-poll.ts';
import { drawScenario } from './scenario.ts';

// Only the asking of models: many polls, without a store, a queue or leases.

export interface SimulatedPollFigures extends SeedFigures {
  seed: string;
  polls: number;
  tookMs: number;
  calls: number;
  votes: number;
  validVotes: number;
  deaths: number;
  /** Repeated calls, for votes that were received and then lost with their worker. */
  repeatedCalls: number;
  reasons: Record<TerminationReason | 'deadline', number>;
  statuses: Record<'success' | 'partial' | 'failed', number>;
  capturedU: number;
  heldU: number;
  /** Polls that spent all they could, up to one smallest unit. */
  spentToTheLimit: number;
}

export async function simulatePolls(seed: string, polls: number, onSeed?: OnSeed): Promise<SimulatedPollFigures> {
  const begun = performance.now();
  const figures: SimulatedPollFigures = {
    seed,
    polls: 0,
    tookMs: 0,
    calls: 0,
    votes: 0,
    validVotes: 0,
    deaths: 0,
    repeatedCalls: 0,
    reasons: { mathematical_lock: 0, confidence: 0, budget: 0, roster_exhausted: 0, deadline: 0 },
    statuses: { success: 0, partial: 0, failed: 0 },
    capturedU: 0,
    heldU: 0,
    spentToTheLimit: 0,
    replayed: 0,
    violations: [],
  };
  const simulation: Simulation<Trace> = {
    rules: POLL_RULES,
    play: (name) => playPoll(drawScenario(name)),
    replayKey,
    count: (trace) => count(figures, trace),
  };
  await playEachSeed(simulation, figures, { seed, plays: polls, onSeed });
  figures.tookMs = Math.round(performance.now() - begun);
  return figures;
}

/** Everything about a poll that must be equal in a repetition. */
const replayKey = ({ asked, collected, endedAt }: Trace): string =>
  JSON.stringify({ asked, endedAt, reason: collected.reason, votes: collected.votes });

function count(figures: SimulatedPollFigures, trace: Trace): void {
  const { collected, scenario, asked } = trace;
  const captured = capturedU(trace);
  figures.polls += 1;
  figures.calls += asked.length;
  figures.repeatedCalls += asked.length - new Set(asked.map((call) => call.seat)).size;
  figures.votes += collected.votes.length;
  figures.validVotes += collected.votes.filter((vote) => vote.option !== null).length;
  figures.deaths += trace.lives - 1;
  figures.reasons[collected.reason ?? 'deadline'] += 1;
  figures.statuses[conclude(collected.state, { reason: collected.reason }).status] += 1;
  figures.capturedU += captured;
  figures.heldU += Number(holdOf(scenario.spec));
  if (captured > 0 && captured === scenario.spec.max_cost_u) figures.spentToTheLimit += 1;
}
