import type { PollResponse, PublicVote } from '@eloquentpoll/contracts';

// A result as a Mermaid flowchart. In labels everything but letters, digits and spaces is written as character codes,
// so that a caller's text cannot become syntax, a directive, markup or a formula.

/** Mermaid refuses diagrams above 50,000 characters. Options are short by rule; a question may be long. */
const MAX_QUESTION_LENGTH = 200;

type Drawn = Pick<PollResponse, 'question' | 'options' | 'tally' | 'winning_option' | 'is_tie'> & {
  votes: readonly Pick<PublicVote, 'model_id' | 'chosen_option'>[];
};

export function toMermaid({ question, options, tally, votes, winning_option, is_tie }: Drawn): string {
  const counts = options.map((option) => tallied(tally, option));
  const most = Math.max(...counts);
  const winners = options.flatMap((option, i) =>
    option === winning_option || (is_tie && counts[i] === most) ? [i] : [],
  );
  const lines = [
    'flowchart LR',
    node('q', shortened(question)),
    ...options.map((option, i) => node(`o${i}`, `${option} (${plural(counts[i]!, 'vote')})`)),
    ...votes.flatMap(({ model_id, chosen_option }, i) => [
      node(`m${i}`, model_id),
      `  q --> m${i}`,
      chosen_option === null ? `  m${i} -.-> n` : `  m${i} --> o${options.indexOf(chosen_option)}`,
    ]),
    ...(votes.some((vote) => vote.chosen_option === null) ? [node('n', 'No vote')] : []),
    node('r', winning_option !== null ? 'Winner' : is_tie ? 'Tie' : 'No winner'),
    ...winners.map((i) => `  o${i} ==> r`),
  ];
  return `${lines.join('\n')}\n`;
}

/** An option may have the name of an inherited property, such as `constructor`. */
const tallied = (tally: Record<string, number>, option: string): number =>
  Object.hasOwn(tally, option) ? (tally[option] ?? 0) : 0;

/** Mermaid treats an empty label as no label. */
const node = (id: string, label: string): string => `  ${id}["${encoded(label) || BLANK}"]`;

const BLANK = '#160;';

const encoded = (text: string): string =>
  text
    .replace(/\p{White_Space}+/gu, ' ')
    .trim()
    .replace(/[^\p{L}\p{N} ]/gu, (char) => `#${char.codePointAt(0)};`);

function shortened(text: string): string {
  const characters = [...text];
  return characters.length <= MAX_QUESTION_LENGTH ? text : `${characters.slice(0, MAX_QUESTION_LENGTH - 1).join('')}…`;
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
