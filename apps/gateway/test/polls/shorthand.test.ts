import { parseShorthand } from '@eloquentpoll/contracts/shorthand';
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { suppliedOptions } from '../../src/polls/order/supplied-options.ts';

const read = (text: string) => {
  const parsed = parseShorthand(text);
  return parsed.ok ? parsed.value : parsed.issue.detail;
};

t.test('a question followed by its options', async (t) => {
  for (const [text, question, options] of [
    ['Which is larger? [A, B, C]', 'Which is larger?', ['A', 'B', 'C']],
    ['  Which?[ A ,B ]  ', 'Which?', ['A', 'B']],
    ['Which? [A, "B, C"]', 'Which?', ['A', 'B, C']],
    ['Which? [a\\, b, c]', 'Which?', ['a, b', 'c']],
    ['Which? [a\\[0\\], "say \\"hi\\"", back\\\\slash]', 'Which?', ['a[0]', 'say "hi"', 'back\\slash']],
    ['[urgent] Which DB? [A, B]', '[urgent] Which DB?', ['A', 'B']],
    ['What is a[b[0]]? [1, 2]', 'What is a[b[0]]?', ['1', '2']],
    ['Which pipe? [6" pipe, 8" pipe]', 'Which pipe?', ['6" pipe', '8" pipe']],
    ['Which? [" spaced ", B]', 'Which?', [' spaced ', 'B']],
    ['🦊 או 🐺? [🦊, 🐺]', '🦊 או 🐺?', ['🦊', '🐺']],
    [`Which? [${'🦊'.repeat(3988)}, b]`, 'Which?', ['🦊'.repeat(3988), 'b']],
    ['Which? [__proto__, constructor]', 'Which?', ['__proto__', 'constructor']],
    ['Which? ［A， B］', 'Which?', ['A', 'B']],
    ['哪一个最大？［东京、大阪、京都］', '哪一个最大？', ['东京', '大阪', '京都']],
    ['أي مدينة أكبر؟ [القاهرة، الرباط]', 'أي مدينة أكبر؟', ['القاهرة', 'الرباط']],
    ['Which is larger [A, B]?', 'Which is larger?', ['A', 'B']],
    ['Which is larger? [A, B]?', 'Which is larger?', ['A', 'B']],
    ['Pick one: [A, B].', 'Pick one:', ['A', 'B']],
    ['Which? [“A, a”, „B, b“, «C, c», »D, d«, 「E、e」]', 'Which?', ['A, a', 'B, b', 'C, c', 'D, d', 'E、e']],
    ['Which? [”A, a”, B]', 'Which?', ['A, a', 'B']],
    ['Which? [it’s A, don’t B]', 'Which?', ['it’s A', 'don’t B']],
    ['Which? [a\\、b, c\\］]', 'Which?', ['a、b', 'c］']],
    ['No options at all?', 'No options at all?', null],
    ['[A, B]', '', ['A', 'B']],
    ['Which? [A]', 'Which?', ['A']],
  ] as const) {
    t.same(read(text), { question, options }, text);
  }
});

t.test('what cannot be read in one way is refused with its place', async (t) => {
  for (const [text, message] of [
    ['Which? [A,,B]', /empty \(at character 11\)/],
    ['Which? [A,]', /empty/],
    ['Which? []', /empty/],
    ['Which? [A, B', /not closed \(at character 8\)/],
    ['Which? [A, "B]', /quote/],
    ['Which? [A, [B], C]', /must be written as \\\[ \(at character 12\)/],
    ['Which? [A, B] thanks', /nothing may follow.*at character 14/],
    ['Which? A] [B, C]', /closes nothing/],
    ['Which? ["A" x, B]', /follows a closing quote/],
    ['Which? [“A, a” x, B]', /follows a closing quote/],
    ['Which? [“A, B]', /a quote in the option group/],
    ['Which? [A、B，C]', /two kinds of comma.*\(at character 12\)/],
    [`Which? [${'a'.repeat(4000)}, b]`, /at most 4000/],
    [`Which? [${'🦊'.repeat(3991)}, b]`, /at most 4000/],
    [`Which? [${'🦊'.repeat(4001)}, b]`, /at most 4000/],
  ] as const) {
    t.match(read(text), message, text.slice(0, 40));
  }
});

t.test('any options survive being written as shorthand', async () => {
  const quote = (option: string) => `"${option.replace(/[\\"]/g, '\\$&')}"`;
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 10 }), (options) => {
      const parsed = parseShorthand(`Which of these? [${options.map(quote).join(', ')}]`);
      return parsed.ok && JSON.stringify(parsed.value.options) === JSON.stringify(options);
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab ,"\\[]'), maxLength: 200 }), (anything) => {
      parseShorthand(anything);
    }),
  );
});

t.test('[§4.1-rule-question-only] options that the server supplies', async (t) => {
  t.same(suppliedOptions('Should we use Postgres or Redis?'), ['Postgres', 'Redis']);
  t.same(suppliedOptions('Which is better: tabs, spaces or both'), ['tabs', 'spaces', 'both']);
  t.same(suppliedOptions('Choose between a big refactor and a small patch'), ['a big refactor', 'a small patch']);
  t.same(suppliedOptions('Is it Postgres, MongoDB or SQLite that is best?'), ['Postgres', 'MongoDB', 'SQLite']);
  t.same(suppliedOptions('Is Rust or Go better for command lines?'), ['Rust', 'Go']);
  t.same(suppliedOptions('Is Rust faster than Go?'), ['Yes', 'No']);
  t.same(suppliedOptions('Is this function safe for threads or not?'), ['Yes', 'No']);
  t.same(suppliedOptions('How likely is rain tomorrow?'), ['Very low', 'Low', 'Medium', 'High', 'Very high']);
  t.same(suppliedOptions('What about this plan of ours'), ['Yes', 'No', 'It depends']);
  t.same(suppliedOptions('Emacs vs Vim?'), ['Emacs', 'Vim']);
  t.same(suppliedOptions('Yes or yes?'), ['Yes', 'No', 'It depends'], 'twice the same is no choice');
});
