import { LIMITS } from '@eloquentpoll/contracts';
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { issueSentence } from '../../src/pages/browser/issue-sentences.ts';
import { pollIssues } from '../../src/polls/order/poll-order.ts';

// The sentences of forms, made from what the service really answers.

const GOOD = { question: 'Which of the two is it?', options: ['This', 'That'] };
const said = (wrong: object): string[] => pollIssues({ ...GOOD, ...wrong }).map((issue) => issueSentence(issue).says);

t.test('each kind of mistake has its sentence', (t) => {
  const cases: [wrong: object, sentence: string][] = [
    [{ options: ['One', 'Two', 'One'] }, 'Options 1 and 3 are the same.'],
    [{ options: ['One', 'Two', 'One '] }, 'Options 1 and 3 are the same.'],
    [{ options: ['options[7] "x" and', 'Two', 'options[7] "x" and'] }, 'Options 1 and 3 are the same.'],
    [{ options: ['One'] }, 'Add at least two options.'],
    [{ options: undefined }, 'Add at least two options.'],
    [{ options: Array.from({ length: 11 }, (_, i) => `Option ${i}`) }, 'There can be at most 10 options.'],
    [{ options: ['One', 'x'.repeat(LIMITS.options.length + 1)] }, 'Option 2 can have at most 200 characters.'],
    [{ options: ['One', 'Two', '\u200b'] }, 'Option 3 is empty.'],
    [{ options: ['One', 'T\u202ewo'] }, 'Option 2 contains invisible characters. Type it again without them.'],
    [{ question: 'Short?' }, 'The question needs at least 10 characters.'],
    [{ question: ' '.repeat(20) }, 'Write a question.'],
    [{ max_cost_usd: 26 }, 'The limit can be at most $25.'],
    [{ max_cost_usd: 0 }, 'The limit must be more than $0.'],
    [{ max_cost_usd: 'much' }, 'The limit must be a number.'],
    [{ confidence_threshold: 95 }, 'The threshold can be at most 1.'],
    [{ confidence_threshold: -1 }, 'The threshold must be at least 0.'],
  ];
  for (const [wrong, sentence] of cases) t.ok(said(wrong).includes(sentence), `${sentence} <- ${said(wrong)}`);
  t.end();
});

t.test('whatever is wrong, no sentence has a name from the API in it', (t) => {
  fc.assert(
    fc.property(
      fc.record(
        {
          question: fc.oneof(fc.string(), fc.integer()),
          options: fc.oneof(fc.array(fc.string({ maxLength: 5 }), { maxLength: 12 }), fc.string()),
          preset: fc.string(),
          confidence_threshold: fc.oneof(fc.double(), fc.string()),
          max_cost_usd: fc.oneof(fc.double(), fc.constant(null)),
        },
        { requiredKeys: [] },
      ),
      (body) =>
        pollIssues(body)
          .map(issueSentence)
          .every(({ says }) => /^[A-Z].*\.$/.test(says) && !/_|\[|\bitems\b/.test(says)),
    ),
  );
  t.end();
});
