import t from 'tap';
import { percentText } from '../src/cli/figures.ts';
import { oddsText } from '../src/cli/odds.ts';
import { picture } from '../src/cli/picture.ts';
import { fit, pad, plain, width, wrap } from '../src/cli/plain-text.ts';
import { COLOUR, NO_COLOUR } from '../src/cli/terminal.ts';

const STANDINGS = {
  options: ['The Sun', 'The Moon'],
  tally: { 'The Sun': 5, 'The Moon': 1 },
  total: 8,
  failed: 1,
  leader: 'The Sun',
};

t.test('a bar per option on the scale of the panel, with the votes that are enough marked', async (t) => {
  t.same(picture(STANDINGS, 32, NO_COLOUR), [
    `  The Sun   ${'█'.repeat(10)}        5`,
    `  The Moon  ${'█'.repeat(2)}      ┊         1`,
    '   enough to win: 4 ┊',
  ]);
  t.match(picture(STANDINGS, 33, COLOUR)[0], '\x1b[1;36mThe Sun \x1b[0m', 'who leads stands out');
});

t.test('the mark is a majority of the votes that there can be', async (t) => {
  const legend = (total: number, failed: number) =>
    /win: (\d+)/.exec(picture({ ...STANDINGS, tally: {}, total, failed }, 80, NO_COLOUR).join('\n'))?.[1];
  t.equal(legend(9, 0), '5');
  t.equal(legend(8, 0), '5');
  t.equal(legend(9, 3), '4');
  t.equal(legend(3, 3), undefined, 'no vote is possible');
});

t.test('no rendered line is wider than the terminal, for any text', async (t) => {
  const options = ['x'.repeat(200), '日本語の選択肢'.repeat(9), '👍🏽 yes', '__proto__', 'a\nb\x1b[2J'];
  for (const columns of [10, 12, 20, 41, 80, 100]) {
    for (const line of picture({ ...STANDINGS, options, tally: { '👍🏽 yes': 3 }, leader: null }, columns, NO_COLOUR)) {
      t.ok(width(line) <= columns, `${columns}: ${line}`);
      t.notMatch(line, /\p{Cc}/u);
    }
  }
});

t.test('a poll without votes renders empty bars', async (t) => {
  const lines = picture({ ...STANDINGS, tally: {}, total: 0, failed: 0, leader: null }, 40, NO_COLOUR);
  t.match(lines[0], /^ {2}The Sun +0$/);
});

t.test('odds: the leader first, the next likeliest outcome, and what is needed', async (t) => {
  const options = ['SQLite', 'Postgres', 'Mongo'];
  const odds = (chances: number[] | undefined, leader: string | null = 'SQLite', threshold = 0.95) =>
    oddsText(options, { leader, ...(chances && { chances }) }, threshold);
  t.equal(odds([0.73, 0.2, 0.03, 0.04]), 'SQLite 73% · Postgres 20% · needs 95%');
  t.equal(odds([0.4, 0.1, 0.05, 0.45]), 'SQLite 40% · a tie 45% · needs 95%');
  t.equal(odds([0.3, 0.5, 0.1, 0.1], null), 'Postgres 50% · SQLite 30% · needs 95%');
  t.equal(odds([0.9999, 0.0001, 0, 0], 'SQLite', 1), 'SQLite 99% · Postgres under 1% · needs certainty');
  t.equal(odds([1, 0, 0, 0]), 'SQLite: final');
  t.equal(odds(undefined), null);
  t.equal(odds([1]), null, 'of another poll');
});

t.test('a probability is never rounded up', async (t) => {
  t.same([0.95, 0.9999, 1, 0, 0.004, 0.29].map(percentText), ['95%', '99%', '100%', '0%', 'under 1%', '29%']);
});

t.test('control and bidirectional characters are removed from untrusted text', async (t) => {
  t.equal(plain('a\x1b]0;title\x07b\u202ec\nd'), 'a ]0;title b c d');
  t.equal(width('日本'), 4);
  t.equal(width('👍🏽'), 2);
  t.equal(fit('abcdef', 4), 'abc…');
  t.equal(fit('日本語', 4), '日…');
  t.equal(fit('abc', 0), '');
  t.equal(pad('日本', 6), '日本  ');
});

t.test('text is wrapped at spaces, and a long word anywhere', async (t) => {
  t.same(wrap('one two three', 8), ['one two', 'three']);
  t.same(wrap('a abcdefghij', 4), ['a', 'abcd', 'efgh', 'ij']);
  t.same(wrap('日本語', 4), ['日本', '語']);
  t.same(wrap('', 4), ['']);
});
