import { parseVoteFile, type VoteFile } from '../src/replay/vote-file.ts';

/** A vote file of these models and vote strings; four options, the right answer is A. */
export const voteText = (models: readonly string[], votes: readonly string[]): string =>
  [
    `# test. Models in column order: ${models.join(',')}`,
    'question_id,category,k,answer,votes',
    ...votes.map((letters, i) => `${i + 1},any,4,A,${letters}`),
    '',
  ].join('\n');

export const FIVE = ['gemini-x', 'claude-x', 'gpt-x', 'Mistral-x', 'Yi-x'];

export const votesOf = (models: readonly string[], votes: readonly string[]): VoteFile =>
  parseVoteFile(voteText(models, votes), 'test.csv');
