import { type Static, Type } from '@sinclair/typebox';
import type { AskedQuestion, RecordedQuestions } from './recorded-questions.ts';

// What an answer must be, worked out from what the models were made to say and from the published rules alone.

const JudgedVote = Type.Object({
  model_id: Type.String(),
  success: Type.Boolean(),
  chosen_option: Type.Union([Type.String(), Type.Null()]),
  estimated_cost: Type.Optional(Type.Number()),
  error: Type.Union([Type.String(), Type.Null()]),
});

/** As much of a result as every way of asking shows. */
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

const SAME_USD = 5e-7;

/** What is wrong with an answer; nothing of one that is right. */
export function problemsOf(questions: RecordedQuestions, asked: AskedQuestion, answer: JudgedAnswer): string[] {
  const problems: string[] = [];
  const expect = (isTrue: boolean, problem: string) => {
    if (!isTrue) problems.push(problem);
  };
  const { votes, tally, options } = answer;
  expect(answer.question === asked.question, 'it answers another question');
  expect(JSON.stringify(options) === JSON.stringify(asked.options), 'it has other options');
  for (const { model_id, success, chosen_option, error } of votes) {
    const recorded = questions.voteOf(model_id, asked.question);
    if (success) expect(chosen_option === recorded, `${model_id} said ${recorded}, the answer says ${chosen_option}`);
    else
      expect(
        chosen_option === null && error !== null,
        `the failed vote of ${model_id} says ${chosen_option}, ${error}`,
      );
  }
  expect(new Set(votes.map(({ model_id }) => model_id)).size === votes.length, 'a model voted twice');

  const counts = asked.options.map((option) => votes.filter(({ chosen_option }) => chosen_option === option).length);
  expect(
    asked.options.every((option, i) => tally[option] === counts[i]),
    `its votes come to ${counts.join('-')}, its tally says ${JSON.stringify(tally)}`,
  );
  const [first = 0, second = 0] = counts.toSorted((a, b) => b - a);
  const isTie = first > 0 && first === second;
  const winner = first === 0 || isTie ? null : asked.options[counts.indexOf(first)]!;
  expect(answer.winning_option === winner, `${winner} has won, not ${answer.winning_option}`);
  expect(answer.is_tie === isTie, `is_tie is ${answer.is_tie}`);
  if (answer.outcome !== undefined)
    expect(answer.outcome === (winner ?? (isTie ? 'tie' : 'no_votes')), `the outcome is ${answer.outcome}`);
  expect((answer.status === 'failed') === (first === 0), `the status is ${answer.status} after ${first} votes`);
  expect(answer.early_terminated === answer.models_skipped > 0, `early_terminated is ${answer.early_terminated}`);

  const { termination_reason: reason, models_skipped: skipped } = answer;
  if (reason === 'mathematical_lock')
    expect(first > second + skipped, `no lock: ${first} against ${second} with ${skipped} to come`);
  if (reason === 'confidence')
    expect((answer.confidence ?? 1) >= answer.confidence_threshold, `stopped at confidence ${answer.confidence}`);
  if (reason === 'roster_exhausted') expect(skipped === 0, `exhausted with ${skipped} models skipped`);
  if (answer.costs) problems.push(...costProblems(answer.costs, answer));
  return problems;
}

function costProblems(costs: NonNullable<JudgedAnswer['costs']>, { votes, max_cost_usd }: JudgedAnswer): string[] {
  const total = costs.total_estimated_cost;
  const ofVotes = votes.reduce((sum, { estimated_cost = 0 }) => sum + estimated_cost, 0);
  const expected = ofVotes + (costs.failed_calls_cost ?? 0);
  return [
    ...(Math.abs(total - expected) > SAME_USD ? [`it costs ${total}, its votes and failed calls ${expected}`] : []),
    ...(total > max_cost_usd + SAME_USD ? [`it costs ${total} of at most ${max_cost_usd}`] : []),
  ];
}
