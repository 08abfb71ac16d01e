/** What is wrong in a roster file, where, and how to fix it. */
export interface RosterFileProblem {
  /** JSON path, such as `models[3] (openai/gpt-oss-120b).price.input`. */
  path: string;
  problem: string;
  wayOut: string;
}

/** Rejects a roster file with all its problems at once, so that one start shows everything that needs fixing. */
export class RosterFileError extends Error {
  readonly file: string;
  readonly problems: readonly RosterFileProblem[];

  constructor(file: string, problems: readonly RosterFileProblem[]) {
    const lines = problems.map(({ path, problem, wayOut }) => `  ${path}: ${problem}. ${wayOut}.`);
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    super(`Roster file ${file} has ${count}:\n${lines.join('\n')}`);
    this.name = 'RosterFileError';
    this.file = file;
    this.problems = problems;
  }
}
