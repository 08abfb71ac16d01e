import { parseOptions, UsageError, wholeNumber } from '../terminal/command.ts';

export const USAGE = `usage: npm run panel -- --votes FILE [--prices FILE [--price-set NAME]] [--sizes N,N,...] [--roster NAMES] [--json]

  --votes FILE      recorded votes with right answers. Panels are chosen on one half of the questions and judged on the
                    other
  --prices FILE     prices per call; panels are then made of the models that have one
  --price-set NAME  which prices of the file, the first set with one price per model without it
  --sizes N,N,...   sizes of the panels that are searched for, default 3,5,7,9
  --roster NAMES    judges this panel too: r7, r9, r12, or model names of the file, separated by commas
  --json            figures as JSON instead of a table
`;

export type Arguments = ReturnType<typeof readArguments>;

const MAX_SIZE = 15;

export function readArguments(argv: readonly string[]) {
  const options = parseOptions(argv, {
    votes: { type: 'string' },
    prices: { type: 'string' },
    'price-set': { type: 'string' },
    sizes: { type: 'string', default: '3,5,7,9' },
    roster: { type: 'string' },
    json: { type: 'boolean', default: false },
  });
  if (options.votes === undefined) throw new UsageError('name a file: --votes FILE');
  const sizes = options.sizes.split(',').map((size) => wholeNumber('--sizes', size, 1, MAX_SIZE));
  return { ...options, votes: options.votes, sizes };
}
