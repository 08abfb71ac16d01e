import { holdOf, pollResponse } from '@eloquentpoll/polls';
import { conclude, standing } from '@eloquentpoll/voting';
import { electionFaults, electionIn, isPartialAndCertain } from '../fixture/election.ts';
import type { Trace } from './play-poll.ts';
import type { Rule } from './rule.ts';

// The rules for every poll.

export const IN_TIME = 'ends by its deadline';

export const POLL_RULES: readonly Rule<Trace>[] = [
  {
    name: 'captured <= hold <= max cost',
    broken(trace) {
      const { spec } = trace.scenario;
      const [captured, hold] = [BigInt(capturedU(trace)), holdOf(spec)];
      if (captured <= hold && hold <= BigInt(spec.max_cost_u)) return null;
      return `captured ${captured}, hold ${hold}, max cost ${spec.max_cost_u}`;
    },
  },
  {
    name: 'billed and reserved money never exceeds the max cost, at no call',
    broken({ asked, scenario: { spec } }) {
      const worst = asked.find((call) => call.exposedU > spec.max_cost_u);
      return worst ? `${worst.exposedU} at stake of ${spec.max_cost_u} when seat ${worst.seat} was asked` : null;
    },
  },
  {
    name: 'only votes are billed, each at most its reserve',
    broken({ collected, scenario: { spec } }) {
      const wrong = collected.votes.find(
        ({ billed_u, option, seat }) => billed_u > (option === null ? 0 : spec.seats[seat]!.reserve_u),
      );
      return wrong ? `seat ${wrong.seat} is billed ${wrong.billed_u}` : null;
    },
  },
  {
    name: IN_TIME,
    broken({ endedAt, claimedAt, scenario: { deadlineMs } }) {
      const bound = Math.max(deadlineMs, claimedAt);
      return endedAt <= bound ? null : `ended at ${endedAt}, deadline ${deadlineMs}, claimed at ${claimedAt}`;
    },
  },
  {
    name: 'counts add up',
    broken({ collected: { state, reason, votes }, scenario: { spec } }) {
      const verdict = conclude(state, { reason });
      const valid = verdict.tally.reduce((sum, count) => sum + count, 0);
      const sums =
        verdict.requested === votes.length &&
        verdict.requested === verdict.succeeded + verdict.failed &&
        verdict.requested + verdict.skipped === spec.seats.length &&
        verdict.succeeded === votes.filter((vote) => vote.option !== null).length &&
        valid === verdict.succeeded;
      return sums ? null : `${JSON.stringify({ ...verdict, votes: votes.length, seats: spec.seats.length })}`;
    },
  },
  {
    name: 'the response says the same',
    broken(trace) {
      const { collected, scenario } = trace;
      const { state, reason, votes } = collected;
      const response = pollResponse({
        resultId: 'EP',
        spec: scenario.spec,
        state,
        reason,
        votes,
        gatherMs: trace.endedAt,
        totalMs: trace.endedAt,
        arrivals: [],
      });
      const says =
        Math.round(response.costs.total_estimated_cost * 1e6) === capturedU(trace) &&
        response.votes.length + response.models_skipped === scenario.spec.seats.length &&
        response.early_terminated === response.models_skipped > 0 &&
        (response.winning_option === null) === (response.is_tie || response.outcome === 'no_votes') &&
        (response.status === 'failed') === votes.every((vote) => vote.option === null) &&
        !isPartialAndCertain(response);
      if (!says) return JSON.stringify(response);
      const election = electionIn(response);
      if (!election) return 'no election';
      const { options, seats } = scenario.spec;
      const heard = votes.map(({ option }) => (option === null ? null : options[option]));
      const said = election.votes.map(({ chosen_option }) => chosen_option);
      if (heard.join() !== said.join()) return `votes ${said}, heard were ${heard}`;
      const wrong = electionFaults(election, { seats: seats.length, hasOlderRules: false });
      return wrong.length === 0 ? null : wrong.join('; ');
    },
  },
  {
    name: 'a seat has one vote and is asked once by a worker',
    broken({ asked, collected }) {
      const seats = collected.votes.map((vote) => vote.seat);
      if (new Set(seats).size !== seats.length) return `votes of seats ${seats}`;
      const calls = asked.map(({ life, seat }) => `${life} ${seat}`);
      return new Set(calls).size === calls.length ? null : `calls by worker and seat: ${calls}`;
    },
  },
  {
    name: 'a vote that is logged is not asked for again, and is in the result',
    broken({ asked, logged, collected }) {
      const again = asked.find((call) => call.logged);
      if (again) return `seat ${again.seat} asked again by worker ${again.life + 1}`;
      const votes = new Set(collected.votes.map((vote) => JSON.stringify(vote)));
      const lost = logged.find((vote) => !votes.has(JSON.stringify(vote)));
      return lost ? `seat ${lost.seat} logged ${JSON.stringify(lost)}` : null;
    },
  },
  {
    name: 'every vote is the one that its model answers',
    broken({ collected, scenario: { answers } }) {
      const wrong = collected.votes.find(({ seat, option, billed_u }) => {
        const answer = answers[seat]!.vote;
        return option !== null && (option !== answer.option || billed_u !== answer.billed_u);
      });
      return wrong ? `${JSON.stringify(wrong)}, its model says ${JSON.stringify(answers[wrong.seat]!.vote)}` : null;
    },
  },
  {
    name: 'it stops for the reason that it gives',
    broken(trace) {
      const { collected, scenario, endedAt } = trace;
      const verdict = conclude(collected.state, { reason: collected.reason });
      const [most = 0, next = 0] = verdict.tally.toSorted((a, b) => b - a);
      const fits = (): boolean => {
        const leftU = scenario.spec.max_cost_u - capturedU(trace);
        const ended = new Set(collected.votes.map((vote) => vote.seat));
        return scenario.spec.seats.some((seat, i) => !ended.has(i) && seat.reserve_u <= leftU);
      };
      const holds = {
        mathematical_lock: () => most - next > verdict.skipped,
        confidence: () => (standing(collected.state).confidence ?? 0) >= scenario.spec.confidence_threshold,
        budget: () => !fits() && verdict.skipped > 0,
        roster_exhausted: () => verdict.skipped === 0,
        deadline: () => endedAt >= scenario.deadlineMs,
      };
      const reason = collected.reason ?? 'deadline';
      return holds[reason]() ? null : `${reason}: ${JSON.stringify({ ...verdict, endedAt })}`;
    },
  },
  {
    name: 'leaves no call and no timer behind',
    broken: ({ callsLeft, timersLeft }) =>
      callsLeft + timersLeft === 0 ? null : `${callsLeft} calls, ${timersLeft} timers`,
  },
];

export const capturedU = ({ collected }: Trace): number =>
  collected.votes.reduce((sum, vote) => sum + vote.billed_u, 0);
