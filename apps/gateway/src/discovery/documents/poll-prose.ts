import { LIMITS } from '@eloquentpoll/contracts';
import { reasoning } from '@eloquentpoll/voting';
import { markdownList, markdownTable } from '../../http/markdown.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import type { Facts } from './facts.ts';
import { aboutSeconds, aboutUsd } from './poll-figures.ts';

// Passages that several documents share: an example question, its answer, costs and errors.

export const EXAMPLE = {
  question: 'Which of these cities is farthest north?',
  options: ['Vancouver', 'Paris', 'London', 'Toronto'],
};

/** The right answer. */
export const EXAMPLE_ANSWER = 'London';

/** A command that runs as it is, free and without a key. Without free polls it uses the key in EP_KEY. */
export const quickPollCommand = (facts: Facts): string =>
  [
    `curl -s ${facts.baseUrl}/api/quick-poll \\`,
    ...(runsFreePolls(facts) ? [] : ['  -H "Authorization: Bearer $EP_KEY" \\']),
    "  -H 'Content-Type: application/json' \\",
    `  -d '${JSON.stringify(EXAMPLE)}'`,
  ].join('\n');

/** The example's answer, limited to its deterministic parts. */
export function quickPollAnswer(facts: Facts): string {
  const { baseUrl, figures } = facts;
  const isFree = runsFreePolls(facts);
  const { models, cost_usd } = isFree ? figures.free : figures.broad;
  const voters = Math.round(models.expected_calls);
  const poll_id = 'EP-2026-01-31-4q7x2mfzk5wtb3ha';
  const answer = {
    ...EXAMPLE,
    answer: EXAMPLE_ANSWER,
    reasoning: reasoning({ winner: 0, tally: [voters], requested: voters, succeeded: voters }),
    cost: isFree ? 0 : Number(cost_usd.expected.toPrecision(2)),
    ...(isFree && { theme: 'free' }),
    status: 'success',
    poll_id,
    result_url: `${baseUrl}/api/results/${poll_id}`,
    page_url: `${baseUrl}/result/${poll_id}`,
  };
  return JSON.stringify(answer, null, 2);
}

export function costTable(facts: Facts): string {
  const { free, fast, broad, strong } = facts.figures;
  const row = (name: string, who: string, { models, cost_usd, latency_ms }: typeof broad, price?: string) => [
    name,
    who,
    String(models.roster_size),
    String(Math.round(models.expected_calls)),
    price ?? `${aboutUsd(cost_usd.expected)}, at most ${aboutUsd(cost_usd.max)}`,
    `${aboutSeconds(latency_ms.p50)} (${aboutSeconds(latency_ms.p95)})`,
  ];
  return markdownTable(
    ['Panel', 'Who votes', 'Models', 'Typically asked', 'Cost', 'Time, median (p95)'],
    [
      ...(runsFreePolls(facts) ? [row('`free`', 'open-weight models', free, '$0')] : []),
      row('`fast`', 'low-latency models', fast),
      row('`broad`, the default', 'models from many vendors', broad),
      row('`strong`', 'frontier models', strong),
    ],
  );
}

export const costNote =
  'For a typical question with two options, at list prices; longer questions and more options cost more. `GET /api/poll/estimate` has current figures, and `POST /api/poll/dry-run` those of one question.';

export const freeLimits = markdownList([
  `a question of ${LIMITS.question.min} to ${LIMITS.free.question} characters, ${LIMITS.options.min} to ${LIMITS.free.options} options of at most ${LIMITS.free.option} characters`,
  'the themes `free` and `free_search`; the latter lets the models search the web',
  'no single votes and no confidence in the answer; `result_url` has both, and `page_url` shows them to people',
]);

export const paidLimits = markdownList([
  `a question of at least ${LIMITS.question.min} characters, ${LIMITS.options.min} to ${LIMITS.options.max} distinct options of at most ${LIMITS.options.length} characters`,
  `\`confidence_threshold\` from 0 to 1 (${LIMITS.confidence_threshold.default} unless you say otherwise): how sure the outcome must be before the poll stops early`,
  `\`max_cost_usd\` up to ${LIMITS.max_cost_usd.max} (${LIMITS.max_cost_usd.default} unless you say otherwise): no poll costs more`,
]);

/** Required wherever a confidence is mentioned. */
export const confidenceMeaning =
  'The `confidence` of a result is the probability that the full panel, had every model voted, would elect the same winner. It is not the probability that the winner is true: models that learned from the same texts can be wrong together, and 1 means only that no missing vote could change the outcome.';

export function errorTable(facts: Facts): string {
  const orFree = (words: string): string => (runsFreePolls(facts) ? words : '');
  return markdownTable(
    ['Status', 'What happened', 'What to do'],
    [
      ['400', 'something in the request is missing or beyond a limit', 'read `error`, mend the request'],
      [
        '401',
        'no credentials, or a key that is not active',
        `send a good key${orFree(', or ask `/api/quick-poll` without one')}`,
      ],
      ['402', 'the balance does not cover the poll', `add credit${orFree(', or ask a free quick poll')}`],
      ['422', 'no model gave a valid vote, or an `Idempotency-Key` was used before with another body', 'read `code`'],
      [
        '429',
        `too many calls${orFree(', or the free polls of the day are used up')}`,
        'wait as long as `Retry-After` says',
      ],
      ['5xx', 'the fault is on our side', 'try again with the same `Idempotency-Key`; no second poll is made'],
    ],
  );
}
