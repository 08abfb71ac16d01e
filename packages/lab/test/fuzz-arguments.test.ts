import t from 'tap';
import { readArguments } from '../src/fuzz/arguments.ts';
import { operationsNamed } from '../src/fuzz/operations.ts';

t.test('an option that the chosen way of fuzzing does not read is refused', async (t) => {
  for (const wrong of [
    ['--repeat', 'x'],
    ['--requests', '9'],
    ['--minutes', '1'],
    ['--corpus', 'x'],
  ])
    t.throws(() => readArguments(wrong), { message: `${wrong[0]} goes with --memory` });
  for (const wrong of [['--runs', '9'], ['--operation', 'POST'], ['--real-limits']])
    t.throws(() => readArguments(['--memory', ...wrong]), { message: `${wrong[0]} goes without --memory` });
  t.throws(() => readArguments(['--runs', '0']), { message: /--runs is a whole number from 1/ }, 'shows nothing');
});

t.test('each way of fuzzing has its own sizes, and a file of runs its corpus beside it', async (t) => {
  t.match(readArguments(['--seed', '3']), { runs: 1_100, realLimits: false, seed: 3 });
  t.match(readArguments(['--memory', '--continue', 'some/runs.jsonl']), {
    ...{ requests: 100_000, minutes: 120, runFile: 'some/runs.jsonl', corpusFile: 'some/fuzz-corpus.txt' },
  });
});

t.test('an operation that there is not is refused: a run without one finds nothing wrong', async (t) => {
  const described = { operationId: 'poll', responses: {} };
  const description = { paths: { '/api/poll': { get: described, post: described } }, components: { schemas: {} } };
  t.equal(operationsNamed(description).length, 2);
  t.match(operationsNamed(description, 'POST /api'), [{ name: 'POST /api/poll' }]);
  t.throws(() => operationsNamed(description, 'post /api'), { message: /no operation's name holds "post/ });
});
