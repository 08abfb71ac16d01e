import t from 'tap';
import { keptMarkdown, MAX_MARKDOWN_BYTES } from '../../src/http/kept-markdown.ts';

const BASE = 'https://polls.example';

t.test('the markdown of a page is made once, for each base, until others need its space', async (t) => {
  const made: string[] = [];
  const read = (page: string, length = 1_000, base = BASE): string =>
    keptMarkdown(page, base, (given, baseUrl) => {
      made.push(given);
      return baseUrl.padEnd(length, '.');
    });
  const madeNow = (): string[] => made.splice(0);

  t.equal(read('one'), BASE.padEnd(1_000, '.'));
  read('one');
  t.same(madeNow(), ['one']);
  t.match(read('one', 1_000, 'https://other.example'), /^https:\/\/other/);
  t.same(madeNow(), ['one']);

  const eighth = MAX_MARKDOWN_BYTES / 2 / 8;
  for (const page of ['a', 'b', 'c', 'd', 'e', 'f']) read(page, eighth);
  read('one');
  for (const page of ['g', 'h']) read(page, eighth);
  madeNow();
  read('one');
  read('h', eighth);
  t.same(madeNow(), [], 'used a moment ago');
  read('a', eighth);
  t.same(madeNow(), ['a'], 'what was not asked for longest is made again');

  read('long', MAX_MARKDOWN_BYTES);
  read('long', MAX_MARKDOWN_BYTES);
  read('a', eighth);
  t.same(madeNow(), ['long', 'long'], 'what would take all of the space is not kept, and drops nothing');
});
