import { draws } from './seeded.ts';

// Questions with answers that the simulated models know: the examples on our pages and in our documents, so that a
// first poll without real models does not elect something wrong. All other votes are opinions.

export type KnownAnswers = Readonly<Record<string, string>>;

export const EXAMPLE_ANSWERS: KnownAnswers = {
  'Which of these cities is farthest north?': 'London',
  'Which database should a small team start with?': 'Postgres',
  'Which database should a small team start with for a web application?': 'Postgres',
  'A queue may deliver a message twice. Where is a duplicate best caught?': 'In the consumer, by an idempotency key',
  'Which button text is clearest on a page where a user deletes a project for good?': 'Delete project',
  'Which name is clearest for a function that reads a result and throws when there is none?': 'requireResult',
  'Is this claim true: "HTTP/2 makes concatenating JavaScript files pointless"?': 'Partly true',
};

/** Share of models that know an answer. The others vote by opinion, so that the poll still looks like a poll. */
const RECALL = 0.85;

/** Every model can add. */
const SUM = /^What is (\d{1,6}) \+ (\d{1,6})\?/;

export function knownAnswer(answers: KnownAnswers, question: string, modelId: string, seed: string): string | null {
  const sum = SUM.exec(question);
  if (sum) return String(Number(sum[1]) + Number(sum[2]));
  const answer = Object.hasOwn(answers, question) ? answers[question]! : null;
  return answer !== null && draws(seed, 'recall', question, modelId)() < RECALL ? answer : null;
}
