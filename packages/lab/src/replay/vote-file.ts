import { Failure } from '@eloquentpoll/launch/failure';
// A file of recorded votes: which option each of many models chose for each of many questions. Anything that is not
// exactly this format is refused with the line where it starts to differ.
//
//   # (any text) Models in column order: model-a,model-b,...
//   question_id,category,k,answer,votes
//   70,business,9,I,IIF-.      one letter per model; - is no valid vote, . is a model that was never asked

export interface VoteFile {
  readonly models: readonly string[];
  readonly questions: readonly RecordedQuestion[];
}

export interface RecordedQuestion {
  readonly id: string;
  readonly category: string;
  readonly optionCount: number;
  /** The right option. */
  readonly answer: number;
  /** One entry per model: an option, null for no valid vote, undefined for a model that was never asked. */
  readonly votes: readonly (number | null | undefined)[];
}

const MODELS = 'Models in column order: ';
const COLUMNS = 'question_id,category,k,answer,votes';

/** `name` is what errors call the file. */
export function parseVoteFile(text: string, name: string): VoteFile {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  let line = 0;
  try {
    const models = parseModels(lines[line++] ?? '');
    if (lines[line++] !== COLUMNS) throw new Failure(`expected the columns ${COLUMNS}`);
    const questions: RecordedQuestion[] = [];
    while (line < lines.length) questions.push(parseQuestion(lines[line++]!, models.length));
    if (questions.length === 0) throw new Failure('expected a question');
    return { models, questions };
  } catch (error) {
    if (error instanceof Failure) throw new Failure(`${name}:${Math.max(1, line)}: ${error.message}`);
    throw error;
  }
}

function parseModels(line: string): string[] {
  const start = line.indexOf(MODELS);
  if (!line.startsWith('#') || start < 0) throw new Failure(`expected a comment that ends with "${MODELS}..."`);
  const models = line.slice(start + MODELS.length).split(',');
  if (models.some((model) => model.trim() === '')) throw new Failure('a model has no name');
  if (new Set(models).size < models.length) throw new Failure('a model is named twice');
  return models;
}

function parseQuestion(line: string, models: number): RecordedQuestion {
  const fields = line.split(',');
  if (fields.length !== 5) throw new Failure(`expected 5 fields, found ${fields.length}`);
  const [id, category, k, answer, letters] = fields as [string, string, string, string, string];
  const optionCount = Number(k);
  if (!/^\d+$/.test(k) || optionCount < 2 || optionCount > 26)
    throw new Failure(`k is the number of options, 2 to 26, not "${k}"`);
  if (letters.length !== models) throw new Failure(`expected ${models} votes, found ${letters.length}`);
  return {
    id,
    category,
    optionCount,
    answer: parseOption(answer, optionCount, 'the answer'),
    votes: Array.from(letters, (letter, i) => {
      if (letter === '-') return null;
      if (letter === '.') return undefined;
      return parseOption(letter, optionCount, `vote ${i + 1}`);
    }),
  };
}

function parseOption(letter: string, optionCount: number, what: string): number {
  const option = letter.length === 1 ? letter.charCodeAt(0) - 'A'.charCodeAt(0) : -1;
  if (option >= 0 && option < optionCount) return option;
  throw new Failure(`${what} is "${letter}", which is none of ${optionCount} options`);
}
