import { asPercent, asSeconds, tableLines } from '../terminal/table.ts';
import type { CrashPoints } from './crash-points.ts';
import { ENDS, REPEATS } from './each-seed.ts';
import { POLL_RULES } from './judge-poll.ts';
import type { Violation } from './rule.ts';
import type { SimulatedPollFigures } from './simulate-polls.ts';
import type { WorldFigures } from './simulate-worlds.ts';
import { WORLD_RULES } from './world/judge-world.ts';

const MAX_SHOWN = 20;
const OF_EVERY_SEED = [{ name: ENDS }, { name: REPEATS }];

function ruleLines(rules: readonly { readonly name: string }[], violations: readonly Violation[]): string[] {
  return [
    '',
    ...tableLines(
      ['what must hold', 'violations'],
      rules.map(({ name }) => [name, String(violations.filter((violation) => violation.rule === name).length)]),
    ),
    ...violations.slice(0, MAX_SHOWN).map(({ where, rule, found }) => `  ${where}: ${rule}: ${found}`),
  ];
}

export function worldLines(seed: string, figures: WorldFigures, tookMs: number): string[] {
  const { worlds, violations } = figures;
  return [
    `Worlds in bad weather, whole workers in virtual time: seed ${seed}, ${worlds} worlds in ${asSeconds(tookMs, 0)}, ` +
      `${Math.round((1_000 * worlds) / tookMs)} worlds/s`,
    '',
    ...tableLines(
      ['figure', 'value'],
      [
        ['accepted polls', String(figures.polls)],
        ['steps out of a process', String(figures.steps)],
        ...Object.entries(figures.faults)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([kind, count]) => [`fault: ${kind}`, String(count)]),
        ['calls to models', String(figures.calls)],
        ['calls repeated', String(figures.repeatedCalls)],
        ['  of these, log or store not readable', String(figures.blindCalls)],
        ['writes refused for their epoch', String(figures.fencedWrites)],
        ...Object.entries(figures.stored).map(([status, count]) => [`polls ${status}`, String(count)]),
        ['  of these, given up after too many attempts', String(figures.buried)],
        ['latest end after deadline and last fault', asSeconds(figures.latestMs)],
        ['worlds played twice', String(figures.replayed)],
      ],
    ),
    ...ruleLines([...WORLD_RULES, ...OF_EVERY_SEED], violations),
  ];
}

export function crashPointLines(course: string, points: CrashPoints, tookMs: number): string[] {
  const { singles, pairs, violations } = points;
  return [
    `A poll of three models, ${course}: ${singles} single faults and ${pairs} pairs, all there are, in ` +
      `${asSeconds(tookMs, 0)}`,
    ...ruleLines(WORLD_RULES, violations),
  ];
}

export function pollLines(figures: SimulatedPollFigures): string[] {
  const { seed, polls, tookMs, reasons, statuses, violations } = figures;
  return [
    `Simulated polls with random prices, latencies, failures, budgets, hedges and deaths of workers: seed ${seed}, ` +
      `${polls} polls in ${asSeconds(tookMs, 0)}, ${Math.round((1_000 * polls) / tookMs)} polls/s`,
    '',
    ...tableLines(
      ['figure', 'value'],
      [
        ['calls', String(figures.calls)],
        ['votes', String(figures.votes)],
        ['valid votes', String(figures.validVotes)],
        ['workers that died', String(figures.deaths)],
        ['calls repeated after a death', String(figures.repeatedCalls)],
        ...Object.entries(reasons).map(([reason, count]) => [`ended by ${reason}`, String(count)]),
        ...Object.entries(statuses).map(([status, count]) => [status, String(count)]),
        ['captured, of all that was held', asPercent(figures.capturedU / figures.heldU)],
        ['polls that captured their max cost to the last micro-USD', String(figures.spentToTheLimit)],
        ['polls played twice', String(figures.replayed)],
      ],
    ),
    ...ruleLines([...POLL_RULES, ...OF_EVERY_SEED], violations),
  ];
}
