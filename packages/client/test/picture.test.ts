import t from 'tap';
import { COLOUR, NO_COLOUR, picture } from '../src/cli/picture.ts';
import { fit, pad, plain, width } from '../src/cli/plain-text.ts';

const SCENE = {
  question: 'Which is larger?',
  options: ['The Sun', 'The Moon'],
  tally: { 'The Sun': 4, 'The Moon': 1 },
  total: 8,
  leader: 'The Sun',
  foot: ['5 of 8 models'],
};

t.test('a poll renders as a bar per option', async (t) => {
  t.same(picture(SCENE, 33, NO_COLOUR), [
    'Which is larger?',
    '',
    `  The Sun   ${'█'.repeat(8)}          4`,
    `  The Moon  ${'█'.repeat(2)}                1`,
    '',
    '  5 of 8 models',
  ]);
  t.match(picture(SCENE, 33, COLOUR)[2], '\x1b[1mThe Sun \x1b[0m', 'who leads stands out');
});

t.test('no rendered line is wider than the terminal, for any text', async (t) => {
  const options = ['x'.repeat(200), '日本語の選択肢'.repeat(9), '👍🏽 yes', '__proto__', 'a\nb\x1b[2J'];
  for (const columns of [12, 20, 41, 80, 200]) {
    const scene = {
      ...SCENE,
      question: 'Why? '.repeat(60),
      options,
      tally: { '👍🏽 yes': 3 },
      leader: null,
    };
    for (const line of picture(scene, columns, NO_COLOUR)) {
      t.ok(width(line) < columns, `${columns}: ${line}`);
      t.notMatch(line, /\p{Cc}/u);
    }
  }
});

t.test('a poll without votes renders empty bars', async (t) => {
  const lines = picture({ ...SCENE, tally: {}, total: 0, leader: null }, 40, NO_COLOUR);
  t.match(lines[2], /^ {2}The Sun +0$/);
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
