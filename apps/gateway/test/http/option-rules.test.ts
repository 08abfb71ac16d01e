import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { comparisonKey, lookAlikes, optionIssues, questionIssues } from '../../src/http/validation/option-rules.ts';

const INVISIBLE = [
  '\u200B',
  '\u200C',
  '\u200D',
  '\u2060',
  '\uFEFF',
  '\u00AD',
  '\u034F',
  '\u180E',
  '\uFE0F',
  '\u{E0100}',
];
const flag = (code: string) =>
  `🏴${[...code].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')}\u{E007F}`;
const FLAGS = { england: flag('gbeng'), scotland: flag('gbsct'), wales: flag('gbwls') };
const SPACES = [' ', '\u00A0', '\u2003', '\u3000', '\u202F'];

/** Ways to write a text that a reader takes for the same text. */
const decorations: ((text: string) => string)[] = [
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  (text) => text.normalize('NFD'),
  (text) => text.normalize('NFKC'),
  (text) => text.replaceAll(' ', SPACES.join('')),
  ...SPACES.map((space) => (text: string) => space + text + space),
  ...INVISIBLE.map((mark) => (text: string) => mark + [...text].join(mark) + mark),
  (text) => text.replace(/[!-~]/g, (char) => String.fromCodePoint(char.charCodeAt(0) + 0xfee0)),
];

const word = fc
  .string({ unit: fc.constantFrom(...'abcXYZ019éÜßñжЯÅ ﬁ㎏½'), minLength: 1, maxLength: 20 })
  .filter((text) => comparisonKey(text) !== '');

t.test('[§A6-option-uniqueness-folded] of a decorated twin a reader is warned, and both are named', (t) => {
  fc.assert(
    fc.property(word, fc.array(fc.constantFrom(...decorations), { minLength: 1, maxLength: 4 }), (text, ways) => {
      const twin = ways.reduce((decorated, way) => way(decorated), text);
      const [warning, ...more] = lookAlikes([text, twin]);
      if (!warning || more.length > 0) return false;
      return warning.includes(JSON.stringify(text)) && warning.includes(JSON.stringify(twin));
    }),
    { numRuns: 2_000 },
  );
  t.pass('every pair is one warning that quotes both texts');
  t.end();
});

t.test('[§2.1-options-unique] the same text in other characters is a duplicate, and both are named', async (t) => {
  const ignored = INVISIBLE.filter((mark) => mark !== '\u200C' && mark !== '\u200D');
  const twins: [string, string][] = [
    ['é', 'e\u0301'],
    ['Å', '\u212B'],
    ['Paris', ' Paris\u3000'],
    ['line 1\nline 2', 'line 1\r\nline 2'],
    ...[...ignored, '\u2066', '\u2069', '\uFFF9'].map((mark): [string, string] => ['Paris', `Pa${mark}ris`]),
    ['e\u034F\u0301', '\u00E9'],
  ];
  for (const [text, twin] of twins) {
    const [issue, ...more] = optionIssues([text, twin]);
    t.match(issue, { pointer: '#/options/1' }, JSON.stringify([text, twin]));
    t.same(more, []);
    t.ok(issue?.detail.includes(`${JSON.stringify(text)} and options[1] ${JSON.stringify(twin)} are the same text`));
  }
});

t.test(
  '[§2.1-options-unique] texts that differ are different options, and a dry run warns where they look alike',
  async (t) => {
    for (const [one, other, alike = true] of [
      ['1 mW', '1 MW'],
      ['10 Mb', '10 MB'],
      ['git branch -d', 'git branch -D'],
      ['O(n²)', 'O(n2)'],
      ['10²', '102'],
      ['Polish', 'polish'],
      ['Straße', 'Strasse'],
      ['H₂O', 'H2O'],
      ['می\u200Cخواهم', 'میخواهم'],
      ['a  b', 'a b'],
      [FLAGS.england, FLAGS.scotland, false],
      [FLAGS.wales, '🏴', false],
    ] as const) {
      t.same(optionIssues([one, other]), [], one);
      t.equal(lookAlikes([one, other]).length, alike ? 1 : 0, one);
    }
  },
);

t.test('an option may have lines, tabs, isolates and the flags that are written with tags', async (t) => {
  const good = [
    'line 1\nline 2',
    'a\tb',
    'a\r\nb',
    '\u2067שלום\u2069 (1)',
    FLAGS.england,
    `${FLAGS.scotland} or ${FLAGS.wales}`,
  ];
  t.same(optionIssues(good), []);
  for (const text of good) t.same(questionIssues(`Which is it: ${text}`), [], text);
});

t.test('folding settles at once', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => comparisonKey(comparisonKey(text)) === comparisonKey(text)),
    { numRuns: 2_000 },
  );
  t.pass('folding twice gives what folding once gives');
  t.end();
});

t.test('characters of the basic plane that differ in case or form alone are equal', (t) => {
  const apart = Array.from({ length: 0xffff }, (_, code) => String.fromCharCode(code)).filter((char) => {
    const forms = [char.toUpperCase(), char.toLowerCase(), char.normalize('NFD'), char.normalize('NFKC')];
    return char.isWellFormed() && forms.some((form) => comparisonKey(form) !== comparisonKey(char));
  });
  t.same(apart, []);
  t.end();
});

t.test('different texts stay different', (t) => {
  const options = [
    'Paris',
    'Pari',
    '1',
    '10',
    '2',
    'naïve',
    'naive',
    'A B',
    'AB',
    '__proto__',
    'constructor',
    'toString',
    'tie',
    'no_votes',
    '東京',
    'مكة',
  ];
  t.same(optionIssues(options), []);
  t.end();
});

t.test('an option says something and hides nothing', (t) => {
  const bad = [
    '',
    ' ',
    '\u3000',
    '\u200B',
    'a\u0085b',
    'a\u000Bb',
    'a\u202Eb',
    'a\u202Ab',
    'a\u{E0041}b',
    'a\u001Bb',
    `${FLAGS.england}\u{E0067}`,
    '🏴\u{E0069}\u{E0067}\u{E006E}\u{E007F}',
  ];
  for (const text of bad) t.equal(optionIssues([text, 'other']).length, 1, JSON.stringify(text));
  t.end();
});

t.test('a question may have lines, but nothing hidden', (t) => {
  t.same(questionIssues('first line\n\tsecond line\r\n'), []);
  for (const text of [
    '          ',
    '\u200B'.repeat(10),
    'ring the \u0007 bell',
    `ignore${'\u{E0069}'.repeat(5)} this`,
  ]) {
    t.equal(questionIssues(text).length, 1, JSON.stringify(text));
  }
  t.end();
});
