import { type Static, Type } from '@sinclair/typebox';
import { electionFaults, electionIn, isPartialAndCertain } from '../fixture/election.ts';
import type { VotingPanel } from '../fixture/voting-panel.ts';
import type { AskedQuestion, RecordedQuestions } from './recorded-questions.ts';

// Checks an answer using only the recorded votes, the requested panel and the published rules. Whether a failed vote
// had to fail, and what each vote costs, is checked with the provider's record.

const JudgedVote = Type.Object({
  model_id: Type.String(),
  success: Type.Boolean(),
  chosen_option: Type.Union([Type.String(), Type.Null()]),
  estimated_cost: Type.Optional(Type.Number()),
  error: Type.Union([Type.String(), Type.Null()]),
});

/** The part of a result that every interface returns. */
export const JudgedAnswer = Type.Object({
  poll_id: Type.String(),
  status: Type.String(),
  question: Type.String(),
  options: Type.Array(Type.String()),
  winning_option: Type.Union([Type.String(), Type.Null()]),
  is_tie: Type.Boolean(),
  outcome: Type.Optional(Type.String()),
  termination_reason: Type.Union([Type.String(), Type.Null()]),
  early_terminated: Type.Boolean(),
  models_skipped: Type.Integer(),
  confidence_threshold: Type.Number(),
  max_cost_usd: Type.Number(),
  confidence: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  tally: Type.Record(Type.String(), Type.Integer()),
  votes: Type.Array(JudgedVote),
  costs: Type.Optional(
    Type.Object({ total_estimated_cost: Type.Number(), failed_calls_cost: Type.Optional(Type.Number()) }),
  ),
});
export type JudgedAnswer = Static<typeof JudgedAnswer>;

export interface PollOfDay {
  readonly asked: AskedQuestion;
  readonly panel: VotingPanel;
  /** The caller asked to cancel it. */
  readonly isCanceled?: boolean;
}

const SAME_USD = 5e-7;

/** The problems of an answer; empty if it is right. */
export function problemsOf(questions: RecordedQuestions, poll: PollOfDay, answer: JudgedAnswer): string[] {
  const { asked, panel, isCanceled = false } = poll;
  const problems: string[] = [];
  const expect = (isTrue: boolean, problem: string) => {
    if (!isTrue) problems.push(problem);
  };
  const { votes, termination_reason: reason } = answer;
  expect(answer.question === asked.question, 'it answers another question');
  expect(JSON.stringify(answer.options) === JSON.stringify(asked.options), 'it has other options');
  const strangers = votes.filter(({ model_id }) => !panel.models.includes(model_id));
  expect(
    strangers.length === 0,
    `${strangers.map(({ model_id }) => model_id).join(', ')} voted, asked were ${panel.models.join(', ')}`,
  );
  expect(new Set(votes.map(({ model_id }) => model_id)).size === votes.length, 'a model voted twice');
  for (const { model_id, success, chosen_option, error } of votes) {
    if (!panel.models.includes(model_id)) continue;
    const recorded = questions.voteOf(model_id, asked.question);
    if (success) expect(chosen_option === recorded, `${model_id} said ${recorded}, the answer says ${chosen_option}`);
    else
      expect(
        chosen_option === null && error !== null,
        `the failed vote of ${model_id} says ${chosen_option}, ${error}`,
      );
  }

  const election = electionIn(answer);
  if (election) {
    const faults = electionFaults(election, { seats: panel.models.length, hasOlderRules: false });
    problems.push(...faults.map((fault) => `it ${fault}`));
  } else problems.push(`it stopped by ${reason}`);
  expect(
    reason !== null || isCanceled || votes.some(({ error }) => error === 'timeout'),
    'it gives no reason for its end, was not canceled, and no model ran out of time',
  );
  problems.push(...confidenceProblems(answer));
  if (answer.costs) problems.push(...costProblems(answer.costs, answer));
  return problems;
}

/**
 * The owner always gets a confidence if there is a winner. Strangers' answers may omit it, unless it ended the poll. Of a
 * partial answer it counts failed models as still to vote, so it may be below the threshold that ended the poll.
 */
function confidenceProblems({ confidence, ...answer }: JudgedAnswer): string[] {
  const isPartial = answer.status === 'partial';
  const { winning_option: winner, termination_reason: reason, confidence_threshold: threshold, costs } = answer;
  const isStop = reason === 'confidence';
  if (typeof confidence === 'number') {
    if (winner === null) return [`it has confidence ${confidence} and no winner`];
    if (isPartialAndCertain({ ...answer, confidence })) return ['it is partial and has confidence 1'];
    return isStop && !isPartial && confidence < threshold ? [`it stopped at confidence ${confidence}`] : [];
  }
  const isNeeded = isStop || (costs !== undefined && (winner !== null || confidence === undefined));
  return isNeeded ? [`its confidence is ${confidence}, after ${reason} with the winner ${winner}`] : [];
}

function costProblems(costs: NonNullable<JudgedAnswer['costs']>, { votes, max_cost_usd }: JudgedAnswer): string[] {
  const total = costs.total_estimated_cost;
  const expected = votes.reduce((sum, { estimated_cost = 0 }) => sum + estimated_cost, 0);
  return [
    ...(Math.abs(total - expected) > SAME_USD ? [`it costs ${total}, its votes ${expected}`] : []),
    ...(total > max_cost_usd + SAME_USD ? [`it costs ${total} of at most ${max_cost_usd}`] : []),
  ];
}
