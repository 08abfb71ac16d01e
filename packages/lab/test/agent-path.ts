import { type Answer, type Ask, describeStep, linked, operation, type Step } from './agent-steps.ts';

// What an agent does that knows one address and nothing else. Every further address, method and field comes out of an
// answer that it was given before; where an answer does not lead on, the walk ends with what is missing.

interface Agent {
  ask: Ask;
  /** Signs what the terms of a payment want: the value of X-Payment. */
  pay: (terms: Record<string, unknown>) => Promise<string>;
}

const QUESTION = {
  question: 'Which HTTP status code means that a resource is gone for good?',
  options: ['404', '410', '301'],
};

export async function walk({ ask, pay }: Agent, start: string): Promise<Step[]> {
  const said: Step[] = [];
  const step = async (why: string, ...request: Parameters<Ask>): Promise<Answer> => {
    const answer = await ask(...request);
    said.push(describeStep(why, request, answer));
    return answer;
  };

  const home = await step('What is this?', 'GET', start, { accept: 'text/markdown' });
  const catalog = await step('Which APIs are there?', 'GET', linked(home, 'api-catalog', start));
  const described = catalog.body.linkset.find((one: { anchor: string }) => one.anchor === start)['service-desc'][0]
    .href;
  const api = await step('What does it do, and how is it asked?', 'GET', described);

  const quick = operation(api, 'quickPoll');
  const free = await step('Try it, without an account', quick.method, quick.url, {}, QUESTION);
  await step('The proof of that answer', 'GET', free.body.result_url);

  const full = operation(api, 'createPoll');
  const refused = await step('Confidence and single votes', full.method, full.url, PROBLEM, QUESTION);
  const way = refused.body.recovery.find(({ action }: { action: string }) => action === 'open_account');

  const terms = await step('What does an account cost?', way.method, way.url, PROBLEM, { amount_usd: 1 });
  const paid = await step(
    'Pay, as the terms say',
    way.method,
    way.url,
    { 'x-payment': await pay(terms.body.accepts[0]) },
    { amount_usd: 1 },
  );

  const bearer = { authorization: `Bearer ${paid.body.api_key}` };
  const poll = await step('The full poll', full.method, full.url, bearer, QUESTION);
  const feedback = operation(api, 'giveFeedback');
  await step('It was right', feedback.method, feedback.url, bearer, {
    poll_id: poll.body.poll_id,
    outcome_correct: true,
  });

  const long = { question: `${QUESTION.question}\n${'The status codes of HTTP, one by one. '.repeat(1_600)}` };
  const tooMuch = { ...QUESTION, ...long, preset: 'strong', max_cost_usd: 25 };
  const short = await step('A long text, frontier models', full.method, full.url, { ...bearer, ...PROBLEM }, tooMuch);
  const more = short.body.recovery.find(({ action }: { action: string }) => action === 'add_funds');
  await step('What does more credit cost?', more.method, more.url, PROBLEM, { amount_usd: 5 });
  return said;
}

const PROBLEM = { accept: 'application/problem+json' };
