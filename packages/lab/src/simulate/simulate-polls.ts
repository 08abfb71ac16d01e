import type { TerminationReason } from '@eloquentpoll/contracts';
import { holdOf } from '@eloquentpoll/polls';
import { conclude } from '@eloquentpoll/voting';
import { capturedU, RULES } from './judge-poll.ts';
import { playPoll, type Trace } from './play-poll.ts';
import { drawScenario } from './scenario.ts';

// Many polls, each from its own seed, so that a violation is repeated by one seed alone.

export interface Simulation {
  seed: string;
  polls: number;
  tookMs: number;
  calls: number;
  votes: number;
  validVotes: number;
  deaths: number;
  /** Calls for votes that had been received and were lost with their worker. */
  repeatedCalls: number;
  reasons: Record<TerminationReason | 'deadline', number>;
  statuses: Record<'success' | 'partial' | 'failed', number>;
  capturedU: number;
  heldU: number;
  /** Polls that spent all they could but the smallest unit. */
  spentToTheLimit: number;
  replayed: number;
  violations: { poll: string; rule: string; found: string }[];
}

const REPLAY_EVERY = 50;
const MAX_VIOLATIONS = 100;

export async function simulatePolls(
  seed: string,
  polls: number,
  onPoll: (done: number, violations: number) => void = () => {},
): Promise<Simulation> {
  const begun = performance.now();
  const result: Simulation = {
    seed,
    polls,
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
  for (let n = 0; n < polls && result.violations.length < MAX_VIOLATIONS; n++) {
    const poll = `${seed}/${n}`;
    await simulatePoll(poll, result, n % REPLAY_EVERY === 0);
    onPoll(n + 1, result.violations.length);
  }
  result.tookMs = Math.round(performance.now() - begun);
  return result;
}

async function simulatePoll(poll: string, result: Simulation, replay: boolean): Promise<void> {
  const report = (rule: string, found: string) => result.violations.push({ poll, rule, found });
  let trace: Trace;
  try {
    trace = await playPoll(drawScenario(poll));
  } catch (error) {
    report('every poll ends', error instanceof Error ? error.message : String(error));
    return;
  }
  for (const { name, broken } of RULES) {
    const found = broken(trace);
    if (found !== null) report(name, found);
  }
  if (replay) {
    result.replayed += 1;
    if (replayKey(await playPoll(drawScenario(poll))) !== replayKey(trace))
      report('the same seed gives the same poll', poll);
  }
  count(result, trace);
}

/** Everything about a poll that must repeat. */
const replayKey = ({ asked, collected, endedAt }: Trace): string =>
  JSON.stringify({ asked, endedAt, reason: collected.reason, votes: collected.votes });

function count(result: Simulation, trace: Trace): void {
  const { collected, scenario, asked } = trace;
  const captured = capturedU(trace);
  result.calls += asked.length;
  result.repeatedCalls += asked.length - new Set(asked.map((call) => call.seat)).size;
  result.votes += collected.votes.length;
  result.validVotes += collected.votes.filter((vote) => vote.option !== null).length;
  result.deaths += trace.lives - 1;
  result.reasons[collected.reason ?? 'deadline'] += 1;
  result.statuses[conclude(collected.state, { reason: collected.reason }).status] += 1;
  result.capturedU += captured;
  result.heldU += Number(holdOf(scenario.spec));
  if (captured > 0 && captured === scenario.spec.max_cost_u) result.spentToTheLimit += 1;
}
