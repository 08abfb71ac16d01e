// A file of recorded votes: a comment with the models in column order, a header, then one line per question with one
// letter per model. `-` and `.` mean no vote.

export interface RecordedVotes {
  questions: number;
  models: readonly string[];
  /** The recorded letter. Null if the model gave no valid vote, undefined if there is no record. */
  letter(model: string, questionId: string): string | null | undefined;
}

const HEADER = 'question_id,category,k,answer,votes';

/** Parses such a file. Throws an error that names the line. */
export function parseRecordedVotes(text: string): RecordedVotes {
  const lines = text.split(/\r?\n/);
  const models = /^#.*column order: *(\S+)\s*$/.exec(lines[0] ?? '')?.[1]?.split(',');
  if (models === undefined) throw new Error('line 1: expected a comment that ends in "column order: MODEL,MODEL,..."');
  if (lines[1] !== HEADER) throw new Error(`line 2: expected "${HEADER}"`);
  const rows = new Map<string, string>();
  for (const [index, line] of lines.entries()) {
    if (index < 2 || line === '') continue;
    const match = /^(\d+),[^,]*,\d+,[A-Z],([A-Z.-]+)$/.exec(line);
    if (match === null) throw new Error(`line ${index + 1}: expected "id,category,k,letter,votes"`);
    if (match[2]!.length !== models.length)
      throw new Error(`line ${index + 1}: ${match[2]!.length} votes for ${models.length} models`);
    rows.set(match[1]!, match[2]!);
  }
  const columns = new Map(models.map((model, index) => [model, index]));
  return {
    questions: rows.size,
    models,
    letter(model, questionId) {
      const column = columns.get(model);
      const letter = column === undefined ? undefined : rows.get(questionId)?.[column];
      return letter === '-' || letter === '.' ? null : letter;
    },
  };
}
