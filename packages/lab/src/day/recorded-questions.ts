import { loadPanels } from '@eloquentpoll/models/panels';
import { chance } from '../terminal/chance.ts';

// Questions to which every simulated model's answer is known in advance. They are drawn here and played back by the
// simulator, so that the right result is known without any code of the product.

export interface AskedQuestion {
  question: string;
  options: string[];
}

export interface RecordedQuestions {
  /** The file for the simulator. */
  readonly file: string;
  readonly count: number;
  readonly models: readonly string[];
  /** Makes the text unique each time; `number` selects the recorded votes. */
  ask(number: number, unique: string): AskedQuestion;
  /** Null if the model refuses the question. */
  voteOf(modelId: string, question: string): string | null;
}

/** Five, because free polls have at most so many options. */
const LETTERS = ['A', 'B', 'C', 'D', 'E'] as const;
/** By question: the share of models that follow the majority. */
const AGREEMENT = [0.95, 0.8, 0.6, 0.4];
const REFUSED = 0.01;
const NUMBER = /#(\d+)\b/;

export function recordQuestions(seed: string, count: number): RecordedQuestions {
  const draw = chance(`${seed}|questions`);
  const models = loadPanels({ file: 'simulator' })
    .models()
    .map(({ id }) => id);
  const columns = models.map((id) => id.slice('sim/'.length));
  const drawn = Array.from({ length: count }, () => {
    const size = draw.whole(2, LETTERS.length);
    const letters = LETTERS.slice(0, size);
    const [common, agreement] = [draw.pick(letters), draw.pick(AGREEMENT)];
    const one = () => (draw.happens(REFUSED) ? '-' : draw.happens(agreement) ? common : draw.pick(letters));
    return { size, common, votes: models.map(one).join('') };
  });
  const rows = drawn.map(({ size, common, votes }, i) => `${i},day,${size},${common},${votes}`);
  const columnOf = new Map(models.map((id, column) => [id, column]));
  const drawnFor = (number: number) => drawn[number % count]!;
  return {
    file: [`# column order: ${columns.join(',')}`, 'question_id,category,k,answer,votes', ...rows, ''].join('\n'),
    count,
    models,
    ask(number, unique) {
      const options = LETTERS.slice(0, drawnFor(number).size);
      return {
        question: `Which of these is right in case #${number % count}, as ${unique} asks?`,
        options: [...options],
      };
    },
    voteOf(modelId, question) {
      const [, number] = NUMBER.exec(question) ?? [];
      const column = columnOf.get(modelId);
      if (number === undefined || column === undefined)
        throw new Error(`nothing is recorded of ${modelId} on ${question}`);
      const letter = drawnFor(Number(number)).votes[column]!;
      return letter === '-' ? null : letter;
    },
  };
}
