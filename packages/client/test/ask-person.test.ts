import { PassThrough } from 'node:stream';
import t from 'tap';
import { askPerson } from '../src/cli/ask-person.ts';

const streams = () => ({ input: new PassThrough(), output: new PassThrough() });

t.test('a prompt gets the line, or null at the end of the input', async (t) => {
  const first = streams();
  const answer = askPerson('Question: ', new AbortController(), first);
  first.input.write('Which is larger?\n');
  t.equal(await answer, 'Which is larger?');
  const second = streams();
  const none = askPerson('Question: ', new AbortController(), second);
  second.input.end();
  t.equal(await none, null);
});

t.test('a signal to the process ends a prompt without an answer', { timeout: 60_000 }, async (t) => {
  const enough = new AbortController();
  const answer = askPerson('Question: ', enough, streams());
  enough.abort();
  t.equal(await answer, null);
  t.equal(await askPerson('Question: ', enough, streams()), null, 'also one that comes after it');
});
