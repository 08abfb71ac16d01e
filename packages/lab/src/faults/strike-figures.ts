import type { Stores } from '../fixture/stores.ts';
import { percentile, seconds } from '../terminal/table.ts';
import type { AcceptedPoll, History } from './history.ts';
import type { PollEvent } from './journal.ts';
import { callsOnTheirWay, handsChangedUnstruck, repeatedCalls, resumes } from './judge-history.ts';
import type { Strike } from './nemesis.ts';

// What a history of strikes amounts to, in figures by name.

export type Figures = Record<string, number | string | null>;

export async function figuresOf({ query }: Stores, history: History): Promise<Figures> {
  const { accepted, journal, strikes, calls, votes } = history;
  const [kinds] = await query<Record<string, number>>(`
    select (count(*) filter (where status = 'completed'))::integer as completed,
           (count(*) filter (where status = 'failed'))::integer as failed,
           (count(*) filter (where claims > 1))::integer as resumed, max(claims) as most_claims,
           (select count(*)::integer from dead_letters) as buried,
           (select count(*)::integer from results where status = 'partial') as partial
      from polls`);
  const held = (kind: Strike['kind']) =>
    strikes.filter((one) => one.kind === kind).reduce((sum, one) => sum + one.held.length, 0);
  const arrived = strikes.reduce((sum, one) => sum + one.held.reduce((n, poll) => n + poll.arrived.length, 0), 0);
  const [afterKill, afterStop] = [resumes(history, 'kill'), resumes(history, 'stop')];
  const toEnd = waits(accepted, journal, 'ended');
  const toClaim = waits(accepted, journal, 'claimed');
  return {
    kills: strikes.filter((one) => one.kind === 'kill').length,
    stops: strikes.filter((one) => one.kind === 'stop').length,
    polls: accepted.length,
    completed: kinds!.completed!,
    failed: kinds!.failed!,
    partial: kinds!.partial!,
    'given up': kinds!.buried!,
    'claimed more than once': kinds!.resumed!,
    'most claims of a poll': kinds!.most_claims!,
    'polls held by killed workers': held('kill'),
    'polls held by stopped workers': held('stop'),
    'of these claimed by another meanwhile': afterStop.length,
    'polls that changed hands without a strike': handsChangedUnstruck(history),
    'votes that had arrived for them': arrived,
    'votes stored': votes.length,
    'votes billed': votes.filter((vote) => vote.billedU > 0n).length,
    calls: calls.length,
    'calls repeated after a strike': repeatedCalls(history),
    'calls on their way when their worker was stopped': callsOnTheirWay(history),
    'resume after kill p50': seconds(percentile(afterKill, 0.5)),
    'resume after kill p99': seconds(percentile(afterKill, 0.99)),
    'resume after kill max': seconds(percentile(afterKill, 1)),
    'resume after stop p50': seconds(percentile(afterStop, 0.5)),
    'resume after stop p99': seconds(percentile(afterStop, 0.99)),
    'accepted to first claim p50': seconds(percentile(toClaim, 0.5), 2),
    'accepted to first claim p99': seconds(percentile(toClaim, 0.99)),
    'accepted to first claim max': seconds(percentile(toClaim, 1)),
    'accepted to end p50': seconds(percentile(toEnd, 0.5)),
    'accepted to end p99': seconds(percentile(toEnd, 0.99)),
    'accepted to end max': seconds(percentile(toEnd, 1)),
  };
}

/** From accept to the first event of this kind. */
function waits(accepted: readonly AcceptedPoll[], journal: readonly PollEvent[], kind: PollEvent['kind']): number[] {
  const first = new Map<string, number>();
  for (const event of journal) if (event.kind === kind && !first.has(event.pollId)) first.set(event.pollId, event.at);
  return accepted.flatMap(({ pollId, at }) => (first.has(pollId) ? [Math.max(0, first.get(pollId)! - at)] : []));
}
