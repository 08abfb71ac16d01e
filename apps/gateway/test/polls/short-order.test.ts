import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { ApiError } from '../../src/http/api-error.ts';
import { readShortOrder } from '../../src/polls/order/short-order.ts';
import { suppliedOptions } from '../../src/polls/order/supplied-options.ts';

const Q = 'Which of these is the best?';
const known = (body: unknown) => readShortOrder(body, 'known');
const anonymous = (body: unknown) => readShortOrder(body, 'anonymous');

/** What a refusal says: its pointers and its sentence. */
function refusal(read: () => unknown): string {
  try {
    return `not refused: ${JSON.stringify(read())}`;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const pointers = error.circumstances.issues?.map(({ pointer }) => pointer).join(' ');
    return `${error.code} ${pointers} ${error.circumstances.detail}`;
  }
}

t.test('[§4.1-quick-q-alias, §4.1-quick-o-alias, §4.1-quick-poll-form] every form is the same order', async (t) => {
  const expected = { order: { question: Q, options: ['A', 'B'] }, optionsSource: 'caller' };
  const forms = [
    { question: Q, options: ['A', 'B'] },
    { q: Q, o: ['A', 'B'] },
    { prompt: Q, o: ['A', 'B'] },
    { poll: `${Q} [A, B]` },
    { question: Q, o: ['A', 'B'] },
    { question: Q, poll: '[A, B]' },
    { poll: Q, options: ['A', 'B'] },
    { question: Q, prompt: Q, q: Q, poll: `${Q} [A, B]`, options: ['A', 'B'], o: ['A', 'B'] },
    { q: Q, o: ['A', 'B'], surface: 'ignored', question_id: 5 },
  ];
  for (const form of forms) {
    t.match(known(form), expected, JSON.stringify(form));
    t.same(known(form), known(forms[0]));
    t.match(anonymous(form), expected);
  }
});

t.test('two aliases with different values are refused: no caller pays for a guess', async (t) => {
  for (const [body, says] of [
    [{ question: Q, q: `${Q}!`, o: ['A', 'B'] }, /#\/q q and question say different things/],
    [{ question: Q, prompt: `${Q}!`, o: ['A', 'B'] }, /#\/prompt prompt and question say different/],
    [{ q: Q, poll: 'Another question? [A, B]' }, /#\/poll poll and q say different/],
    [{ question: Q, options: ['A', 'B'], o: ['B', 'A'] }, /#\/o o and options say different/],
    [{ question: Q, o: ['A', 'B'], poll: `${Q} [A, C]` }, /#\/poll poll and o say different/],
    [{ question: Q, theme: 'fast', preset: 'strong' }, /#\/preset preset and theme fast say different/],
    [{ question: Q, theme: 'free', preset: 'strong' }, /#\/preset preset and theme free say different/],
    [{ question: Q, theme: 'free', profile: 'quick' }, /#\/profile profile and theme free say different/],
  ] as const)
    t.match(
      refusal(() => known(body)),
      says,
      JSON.stringify(body),
    );
});

t.test('[§4.1-quick-theme, §8-free-themes] themes choose the models', async (t) => {
  const panelFor = (body: object, read = known) => {
    const { panel_name, search } = read({ question: Q, ...body }).order;
    return [panel_name, search];
  };
  t.same(panelFor({}), ['broad', false]);
  t.same(panelFor({ theme: 'broad' }), ['broad', false]);
  t.same(panelFor({ theme: 'fast' }), ['fast', false]);
  t.same(panelFor({ theme: 'strong' }), ['strong', false]);
  t.same(panelFor({ theme: 'search' }), ['broad', true]);
  t.same(panelFor({ theme: 'search', preset: 'strong' }), ['strong', true]);
  t.same(panelFor({ theme: 'fast', preset: 'fast' }), ['fast', false]);
  t.same(panelFor({ preset: 'strong' }), ['strong', false]);
  t.same(panelFor({ profile: 'quick' }), ['fast', false]);
  t.same(panelFor({ theme: 'free' }), ['free', false]);
  t.same(panelFor({ theme: 'free_search' }), ['free_search', true]);
  t.same(panelFor({}, anonymous), ['free', false], '[§4.1-quick-free-theme-default]');
  t.same(panelFor({ theme: 'free_search' }, anonymous), ['free_search', true]);
  t.match(
    refusal(() => known({ q: Q, theme: 'cheap' })),
    /#\/theme theme must be one of broad, fast, strong, search, free, /,
  );
  t.match(
    refusal(() => known({ q: Q, preset: 'cheap' })),
    /^invalid_preset #\/preset/,
  );
  t.match(
    refusal(() => known({ q: Q, profile: 'cheap' })),
    /#\/profile profile must be one of conservative, balanced, quick/,
  );
});

t.test('[§4.1-rule-poll-profile] fields override the profile, the profile overrides the defaults', async (t) => {
  const terms = (body: object) => {
    const { panel_name, confidence_threshold, max_cost_u } = known({ question: Q, ...body }).order;
    return [panel_name, confidence_threshold, max_cost_u];
  };
  t.same(terms({}), ['broad', 0.95, 1_000_000]);
  t.same(terms({ profile: 'balanced' }), ['broad', 0.95, 1_000_000]);
  t.same(terms({ profile: 'conservative' }), ['strong', 0.99, 2_000_000]);
  t.same(terms({ profile: 'conservative', preset: 'fast' }), ['fast', 0.99, 2_000_000]);
  t.same(terms({ profile: 'quick', confidence_threshold: 0, max_cost_usd: 0.1 }), ['fast', 0, 100_000]);
});

t.test('[§4.1-quick-free-theme-enum] without an account nothing paid is turned into something free', async (t) => {
  for (const body of [
    { q: Q, theme: 'broad' },
    { q: Q, theme: 'search' },
    { q: Q, theme: 'nonsense' },
    { q: Q, preset: 'fast' },
    { q: Q, profile: 'quick' },
  ])
    t.match(
      refusal(() => anonymous(body)),
      /needs an API key; without one the themes are free and free_search/,
    );
  for (const theme of [null, 5])
    t.match(
      refusal(() => anonymous({ q: Q, theme })),
      /theme must be one of free, free_search/,
    );
});

t.test('every free poll has the tighter limits, and its maximum cost is set by the server', async (t) => {
  for (const read of [anonymous, (body: object) => known({ theme: 'free', ...body })]) {
    t.match(read({ q: Q, o: ['A', 'B'], max_cost_usd: 25 }).order, { max_cost_u: 100_000, min_votes: 1 });
    const says = (body: object) => refusal(() => read(body));
    // [§4.1-quick-free-question-max, §8-free-question-max]
    t.equal(read({ q: '\u{1F600}'.repeat(1000) }).order.question.length, 2000);
    t.match(says({ q: 'x'.repeat(1001) }), /#\/q q must be at most 1000 characters/);
    t.match(says({ question: 'x'.repeat(1001) }), /#\/question question must be at most 1000/);
    t.match(says({ poll: `${'x'.repeat(1001)} [A, B]` }), /#\/poll poll: question must be at most 1000/);
    // [§4.1-quick-free-options-count, §8-free-options-max]
    t.equal(read({ q: Q, o: [...'abcde'] }).order.options.length, 5);
    t.match(says({ q: Q, o: [...'abcdef'] }), /#\/o o must contain at most 5 items/);
    t.match(says({ poll: `${Q} [a,b,c,d,e,f]` }), /#\/poll poll: options must contain at most 5/);
    t.match(says({ q: Q, o: [...'abcdefghijk'] }), /at most 5/, 'not 10');
    t.match(says({ q: Q, o: ['a'] }), /#\/o o must contain at least 2 items/);
    // [§4.1-quick-free-option-max, §8-free-option-max]
    t.equal(read({ q: Q, o: ['A', '\u{1F600}'.repeat(50)] }).order.options[1]!.length, 100);
    t.match(says({ q: Q, o: ['A', 'x'.repeat(51)] }), /#\/o\/1 o\[1\] must be at most 50 characters/);
    t.match(says({ poll: `${Q} [A, ${'x'.repeat(51)}]` }), /#\/poll poll: options\[1\] must be at most 50/);
  }
  t.equal(known({ q: 'x'.repeat(1001), o: [...'abcdefghij'] }).order.options.length, 10, 'a paid one is not');
  t.match(
    refusal(() => known({ q: Q, o: [...'abcdefghijk'] })),
    /at most 10/,
  );
});

t.test(
  '[§4.1-quick-400, §8-question-min, §8-options] the rules of a poll hold, in the words of the form',
  async (t) => {
    for (const [body, says] of [
      [{}, /#\/question question is required/],
      [{ o: ['A', 'B'] }, /#\/question question is required/],
      [{ poll: '[A, B]' }, /#\/poll poll has no question/],
      [{ poll: '' }, /#\/poll poll has no question/],
      [{ q: 'too short' }, /#\/q q must be at least 10 characters/],
      [{ poll: 'too short [A, B]' }, /#\/poll poll: question must be at least 10/],
      [{ q: ' '.repeat(12) }, /#\/q q must not be blank/],
      [{ poll: `${Q} [A]` }, /#\/poll poll: options must contain at least 2/],
      [{ poll: `${Q} [A, A]` }, /#\/poll poll: options must be unique/],
      [{ poll: `${Q} [ A , A ]` }, /unique/],
      [{ poll: `${Q} [A, "A "]` }, /poll: options must be unique: options\[0\] "A" and options\[1\] "A " are the same/],
      [{ q: Q, o: ['A', ' A\u200B'] }, /#\/o\/1 o must be unique: o\[0\] "A" and o\[1\] " A.*" are the same/],
      [{ q: Q, o: ['A', ''] }, /#\/o\/1 o\[1\] must not be empty/],
      [{ q: Q, o: 'A, B' }, /#\/o o must be an array/],
      [{ q: Q, o: ['A', 5] }, /#\/o\/1 o\[1\] must be a string/],
      [{ q: 5 }, /#\/q q must be a string/],
      [{ q: null }, /#\/q q must be a string/],
      [{ poll: ['A'] }, /#\/poll poll must be a string/],
      [{ poll: `${Q} [A, B] thanks` }, /#\/poll poll: nothing may follow the option group \(at character 35\)/],
      [{ poll: `${Q} [A,,B]` }, /#\/poll poll: an option is empty/],
      [{ poll: `${Q} ["${'x'.repeat(4000)}", B]` }, /#\/poll poll must be at most 4000 characters/],
      [null, / # the request must be an object/],
      [[], / # the request must be an object/],
      ['text', / # the request must be an object/],
    ] as const) {
      t.match(
        refusal(() => known(body)),
        says,
        JSON.stringify(body)?.slice(0, 60),
      );
      t.match(
        refusal(() => anonymous(body)),
        says,
        JSON.stringify(body)?.slice(0, 60),
      );
    }
  },
);

t.test('[§4.1-rule-question-only] supplied options are options, whatever the question', async (t) => {
  t.match(known({ q: 'Should we use A or B?' }), { order: { options: ['A', 'B'] }, optionsSource: 'server' });
  t.match(anonymous({ poll: 'Is this question enough?' }), {
    order: { options: ['Yes', 'No'] },
    optionsSource: 'server',
  });
  const word = fc.constantFrom(
    'A',
    'a',
    'ＡＡ',
    ' ',
    '\n',
    ',',
    '?',
    ':',
    'or',
    'vs',
    'and',
    'between',
    'is',
    '\u200B',
    'İ',
    '\u202E',
  );
  const question = fc.array(word, { minLength: 5, maxLength: 40 }).map((words) => `x ${words.join(' ')} question`);
  fc.assert(
    fc.property(fc.oneof(question, fc.string({ unit: 'grapheme', minLength: 10, maxLength: 300 })), (text) => {
      const options = suppliedOptions(text);
      const again = () => readShortOrder({ q: 'Is this question enough?', o: options }, 'anonymous').order.options;
      return JSON.stringify(again()) === JSON.stringify(options);
    }),
  );
});

t.test('options are found in one pass, however the text is made', async (t) => {
  // Whatever needs the square of this length does not end while anybody waits.
  const length = 2_000_000;
  for (const piece of [' ', '\n', 'or ', ' between ', ' and ', ', ', '?', '! x', ' is ', 'a,b or ']) {
    t.same(suppliedOptions(`Which of ${piece.repeat(length / piece.length)} x`), ['Yes', 'No', 'It depends']);
  }
});
