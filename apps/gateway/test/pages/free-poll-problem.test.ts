import { ERRORS } from '@eloquentpoll/contracts';
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { optionIssues } from '../../src/http/validation/option-rules.ts';
import { freePollProblem } from '../../src/pages/browser/free-poll-problem.ts';
import { FREE_POLL_LIMITS } from '../../src/pages/free-poll-form.ts';
import { build } from '../fixtures/build.ts';

// What the form of a free poll refuses is what the service would refuse.

const QUESTION = 'Which of these two is right?';
const said = (options: readonly string[]) => freePollProblem({ question: QUESTION, options }, FREE_POLL_LIMITS)?.says;

t.test('options are the same in the form where they are the same to the service', async (t) => {
  for (const options of [
    ['-d', '-D'],
    ['5²', '52'],
    ['Same', 'same '],
    ['①', '1'],
    ['a  b', 'a b'],
    ['\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}', '\u{1F3F4}'],
    ['می\u200cخواهم', 'میخواهم'],
  ])
    t.same([said(options), optionIssues(options)], [undefined, []], options.join('/'));
  for (const options of [
    ['Same', 'Same '],
    ['Paris', ' Pa\u200Bris'],
    ['é', 'e\u0301'],
    ['❤', '❤\uFE0F'],
  ])
    t.equal(said(options), 'Options 1 and 2 are the same.');
  const part = fc.constantFrom(
    'a',
    'A',
    ' ',
    '\u200b',
    '\u200c',
    '\ufe0f',
    'e\u0301',
    'é',
    '²',
    '2',
    '\ufffa',
    '\u{1F3F4}',
  );
  const text = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => `x${parts.join('')}`);
  fc.assert(
    fc.property(
      text,
      text,
      (one, other) => (said([one, other]) === undefined) === (optionIssues([one, other]).length === 0),
    ),
    { numRuns: 2_000 },
  );
});

t.test('a form that is refused for something else than its content says what for', async (t) => {
  const { app, asOwner } = await build(t);
  await asOwner('update controls set free_polls_stopped = true');
  const send = async (options: readonly string[]) => {
    const fields = new URLSearchParams([
      ['question', QUESTION],
      ...options.map((each): [string, string] => ['option', each]),
    ]);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return app.inject({ method: 'POST', url: '/playground', headers, payload: String(fields) });
  };
  const stopped = await send(['-d', '-D']);
  t.equal(stopped.statusCode, 503);
  t.notMatch(stopped.body, 'are the same');
  t.match(stopped.body, ERRORS.polls_stopped.description);
  const wrong = await send(['Same', 'Same ']);
  t.equal(wrong.statusCode, 400);
  t.match(wrong.body, 'Options 1 and 2 are the same.');
});
