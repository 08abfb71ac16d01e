import { type KnownAnswers, knownAnswer } from './known-answers.ts';
import type { Paper, PrintedOption } from './read-prompt.ts';
import type { RecordedVotes } from './recorded-votes.ts';
import { draws, gumbel, logGamma } from './seeded.ts';
import type { SimulatedModel } from './traits.ts';

// How a simulated model votes. Opinions depend on the seed, the question and the options' texts, never on labels or
// places, so a poll has the same outcome however its ballots are printed. Models with known answers ignore opinions.
// Other kinds of voters do what attackers hope for.

/** The option voted for. Null if the recording has no vote. */
export function vote(
  paper: Paper,
  model: SimulatedModel,
  seed: string,
  recorded: RecordedVotes | null,
  known: KnownAnswers = {},
): PrintedOption | null {
  const { options } = paper;
  switch (model.voter) {
    case 'opinion': {
      const answer = knownAnswer(known, paper.question, model.id, seed);
      return options.find(({ text }) => text === answer) ?? opinion(paper, model, seed);
    }
    case 'first':
      return options[0]!;
    case 'last':
      return options.at(-1)!;
    case 'longest':
      return options.reduce((longest, option) => (option.text.length > longest.text.length ? option : longest));
    case 'obedient':
      return commanded(paper) ?? opinion(paper, model, seed);
    case 'recorded':
      return replay(paper, model, recorded);
    default:
      return model.voter satisfies never;
  }
}

/**
 * A symmetric Dirichlet distribution divides the electorate among the options of a question, and each model draws its
 * vote from it: with gamma weights and Gumbel noise, the highest utility wins. Two models then agree with probability
 * 1/n + agreement * (1 - 1/n), for any number n of options.
 */
function opinion(paper: Paper, model: SimulatedModel, seed: string): PrintedOption {
  const { question, options } = paper;
  const knows = draws(seed, 'skill', question, model.id)() < model.skill;
  const shape = (1 / Math.max(model.agreement, 1e-6) - 1) / options.length;
  const utility = ({ text }: PrintedOption): number => {
    const noise = gumbel(draws(seed, 'noise', question, text, model.id));
    if (!knows) return noise;
    return logGamma(Math.max(shape, 1e-9), draws(seed, 'common', question, text)) + model.temperature * noise;
  };
  return loudest(options, utility);
}

function loudest(options: readonly PrintedOption[], utility: (option: PrintedOption) => number): PrintedOption {
  let best = options[0]!;
  let most = Number.NEGATIVE_INFINITY;
  for (const option of options) {
    const value = utility(option);
    if (value > most) {
      best = option;
      most = value;
    }
  }
  return best;
}

const PLACES: Record<string, number> = { first: 0, second: 1, third: 2, fourth: 3, fifth: 4, last: -1 };
const COMMAND =
  /\b(?:choose|pick|select|answer|vote(?:\s+for)?|reply(?:\s+with)?)(?:\s+(?:is|with|the|option|label|choice|number))*\s*[:=]?\s*["'[(]*(\w+)/gi;

/** The option that a text inside the ballot demands, by place, letter or label. */
function commanded({ question, options }: Paper): PrintedOption | undefined {
  for (const text of [question, ...options.map((option) => option.text)]) {
    for (const match of text.matchAll(COMMAND)) {
      const word = match[1]!;
      const labelled = options.find((option) => option.label === word);
      const place = PLACES[word.toLowerCase()] ?? (/^\d+$/.test(word) ? Number(word) - 1 : letterPlace(word));
      const obeyed = labelled ?? (place === undefined ? undefined : options.at(place));
      if (obeyed !== undefined) return obeyed;
    }
    const named = options.find((option) => new RegExp(`(?<!\\w)${literally(option.label)}(?!\\w)`).test(text));
    if (named !== undefined) return named;
  }
  return undefined;
}

const letterPlace = (word: string): number | undefined =>
  /^[A-J]$/.test(word) ? word.charCodeAt(0) - 'A'.charCodeAt(0) : undefined;

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The question contains the id of a recorded one, as in "#70", and its options are single letters. */
function replay(
  { question, options }: Paper,
  model: SimulatedModel,
  recorded: RecordedVotes | null,
): PrintedOption | null {
  const id = /#(\d+)\b/.exec(question)?.[1];
  if (recorded === null || id === undefined) throw new NoRecording('no recorded votes, or a question without "#ID"');
  const letter = recorded.letter(model.recordedAs, id);
  if (letter === undefined) throw new NoRecording(`no recorded vote of ${model.recordedAs} on question #${id}`);
  if (letter === null) return null;
  const option = options.find((candidate) => candidate.text === letter);
  if (option === undefined) throw new NoRecording(`the recorded vote ${letter} on question #${id} is not an option`);
  return option;
}

/** Thrown if the requested vote was not recorded. */
export class NoRecording extends Error {}
