import { type Intent, LIMITS } from '@eloquentpoll/contracts';
import type { PollsContext } from '../../polls/context.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';

// The intents of /api/intents: trigger phrases, parameters and operation of each.

const question = { type: 'string', minLength: LIMITS.question.min };
const options = (max: number, maxLength: number) => ({
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength },
  minItems: LIMITS.options.min,
  maxItems: max,
  uniqueItems: true,
});
const pollOptions = options(LIMITS.options.max, LIMITS.options.length);

const object = (properties: Record<string, object>, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
});

export const INTENTS = [
  {
    id: 'run_poll',
    name: 'Run a poll',
    description: 'Several AI models vote on one question; the result states its confidence.',
    trigger_phrases: [
      'ask several models',
      'ask multiple models',
      'ask many models',
      'run a poll',
      'start a poll',
      'create a poll',
      'poll the models',
      'let the models vote',
      'have the models vote on',
      'vote on',
      'consensus of models',
      'what do the models think',
      'reach a consensus on',
    ],
    parameters: object({ question, options: pollOptions }, ['question', 'options']),
    endpoint: { method: 'POST', path: '/api/poll' },
    mcp_tool: 'poll_question',
    auth: 'bearer',
    examples: [
      {
        text: 'Ask several models: Which one is a prime number? [91, 97, 99]',
        parameters: { question: 'Which one is a prime number?', options: ['91', '97', '99'] },
      },
      {
        text: 'Please run a poll on whether we should use Postgres or MySQL',
        parameters: { question: 'we should use Postgres or MySQL', options: ['Postgres', 'MySQL'] },
      },
    ],
  },
  {
    id: 'quick_poll',
    name: 'Ask a quick, free question',
    description: 'A poll of open-weight models that costs nothing and needs no account; options are optional.',
    trigger_phrases: [
      'quick poll',
      'free poll',
      'ask for free',
      'quick question',
      'second opinion on',
      'get a second opinion',
      'sanity check',
      'double check',
      'check whether',
      'is it true that',
    ],
    parameters: object({ question, options: options(LIMITS.free.options, LIMITS.free.option) }, ['question']),
    endpoint: { method: 'POST', path: '/api/quick-poll' },
    mcp_tool: null,
    auth: 'none',
    examples: [
      {
        text: 'Quick poll: Is a tomato a fruit? [Yes, No]',
        parameters: { question: 'Is a tomato a fruit?', options: ['Yes', 'No'] },
      },
      { text: 'Which is larger? [A, B, C]', parameters: { question: 'Which is larger?', options: ['A', 'B', 'C'] } },
    ],
  },
  {
    id: 'estimate_cost',
    name: 'Estimate cost and time',
    description: 'Estimates cost and duration of a poll with a number of options. No model is called.',
    trigger_phrases: [
      'how much does a poll cost',
      'how much would a poll cost',
      'what does a poll cost',
      'cost of a poll',
      'estimate the cost',
      'cost estimate',
      'price of a poll',
      'how long does a poll take',
      'how expensive is a poll',
    ],
    parameters: object(
      {
        options: { type: 'integer', minimum: LIMITS.options.min, maximum: LIMITS.options.max },
        preset: { type: 'string', enum: ['broad', 'fast', 'strong'] },
      },
      ['options'],
    ),
    endpoint: { method: 'GET', path: '/api/poll/estimate' },
    mcp_tool: null,
    auth: 'none',
    examples: [
      { text: 'How much does a poll cost with 4 options?', parameters: { options: 4 } },
      { text: 'Estimate the cost of a strong poll with 2 options', parameters: { options: 2, preset: 'strong' } },
    ],
  },
  {
    id: 'dry_run',
    name: 'Check a poll without running it',
    description: 'Checks a poll, estimates its cost, and whether the balance covers it.',
    trigger_phrases: [
      'dry run',
      'validate my poll',
      'validate this poll',
      'check my poll before',
      'test the poll without running it',
      'without spending',
      'would this poll be valid',
    ],
    parameters: object({ question, options: pollOptions }, ['question', 'options']),
    endpoint: { method: 'POST', path: '/api/poll/dry-run' },
    mcp_tool: null,
    auth: 'bearer',
    examples: [
      {
        text: 'Dry run: Which city is the capital of Australia? [Sydney, Canberra]',
        parameters: { question: 'Which city is the capital of Australia?', options: ['Sydney', 'Canberra'] },
      },
    ],
  },
  {
    id: 'get_result',
    name: 'Read a result',
    description: 'The stored result of a poll, for anyone who holds its id.',
    trigger_phrases: [
      'get the result',
      'show the result',
      'result of poll',
      'result of my poll',
      'what was the outcome',
      'who won the poll',
      'look up a poll',
      'fetch the result',
      'show me poll',
    ],
    parameters: object({ resultId: { type: 'string' } }, ['resultId']),
    endpoint: { method: 'GET', path: '/api/results/{resultId}' },
    mcp_tool: 'get_poll_result',
    auth: 'none',
    examples: [
      {
        text: 'Show the result of EP-2026-11-20-0123456789abcdef',
        parameters: { resultId: 'EP-2026-11-20-0123456789abcdef' },
      },
    ],
  },
  {
    id: 'check_balance',
    name: 'See the balance',
    description: 'What the account can spend, and what it has spent.',
    trigger_phrases: [
      'my balance',
      'check balance',
      'account balance',
      'how much credit',
      'remaining credit',
      'how much money do I have left',
      'what have I spent',
    ],
    parameters: object({}),
    endpoint: { method: 'GET', path: '/api/balance' },
    mcp_tool: 'get_balance',
    auth: 'cookie',
    examples: [{ text: 'What is my balance?', parameters: {} }],
  },
  {
    id: 'add_funds',
    name: 'Add funds',
    description:
      'A deposit in USDC, by a payment proof. It fills the account of the wallet that pays; its first one makes that account, with a key.',
    trigger_phrases: [
      'add funds',
      'add money',
      'add credit',
      'top up',
      'buy credit',
      'deposit usdc',
      'make a deposit',
      'fund my account',
      'dollars on my account',
    ],
    parameters: object(
      {
        amount_usd: { type: 'number', minimum: LIMITS.deposit_usd.min, maximum: LIMITS.deposit_usd.max },
      },
      ['amount_usd'],
    ),
    endpoint: { method: 'POST', path: '/api/deposit' },
    mcp_tool: null,
    auth: 'none',
    examples: [{ text: 'Top up my account with $25', parameters: { amount_usd: 25 } }],
  },
  {
    id: 'list_models',
    name: 'List models',
    description: 'The model variants that the registry knows.',
    trigger_phrases: [
      'list models',
      'list the models',
      'which models are available',
      'what models do you have',
      'available models',
      'show models',
      'supported models',
    ],
    parameters: object({ available_only: { type: 'string' }, org: { type: 'string' }, country: { type: 'string' } }),
    endpoint: { method: 'GET', path: '/api/models' },
    mcp_tool: null,
    auth: 'none',
    examples: [{ text: 'Which models are available?', parameters: { available_only: 'true' } }],
  },
  {
    id: 'submit_feedback',
    name: 'Give feedback',
    description: 'Says whether the outcome of a poll was right.',
    trigger_phrases: [
      'give feedback',
      'submit feedback',
      'send feedback',
      'the outcome was correct',
      'the outcome was wrong',
      'the result was correct',
      'the result was wrong',
      'the answer was correct',
      'the answer was wrong',
      'report a wrong answer',
    ],
    parameters: object({ poll_id: { type: 'string' }, outcome_correct: { type: 'boolean' } }, ['poll_id']),
    endpoint: { method: 'POST', path: '/api/feedback' },
    mcp_tool: null,
    auth: 'bearer',
    examples: [
      {
        text: 'Give feedback: the outcome was wrong for EP-2026-11-20-0123456789abcdef',
        parameters: { poll_id: 'EP-2026-11-20-0123456789abcdef', outcome_correct: false },
      },
    ],
  },
  {
    id: 'get_code_example',
    name: 'Get a code example',
    description: 'A program that runs a poll, in the language you name.',
    trigger_phrases: [
      'code example',
      'example code',
      'sample code',
      'show me code',
      'code snippet',
      'example in',
      'how do I call the api',
      'how to call',
      'in typescript',
      'in python',
      'with curl',
      'mcp config',
    ],
    parameters: object({ language: { type: 'string', enum: ['curl', 'typescript', 'python', 'mcp-config'] } }, [
      'language',
    ]),
    endpoint: { method: 'GET', path: '/api/examples/{language}' },
    mcp_tool: null,
    auth: 'none',
    examples: [{ text: 'Show me a code example in Python', parameters: { language: 'python' } }],
  },
] as const satisfies readonly Shape[];

/** Intent with readonly lists. */
type Shape = Readonly<Omit<Intent, 'trigger_phrases' | 'examples' | 'id'>> & {
  readonly id: string;
  readonly trigger_phrases: readonly string[];
  readonly examples: readonly { text: string; parameters: object }[];
};

export type IntentId = (typeof INTENTS)[number]['id'];
export type KnownIntent = Shape & { readonly id: IntentId };

export const intentsOf = (context: Pick<PollsContext, 'panels'>): readonly KnownIntent[] =>
  runsFreePolls(context) ? INTENTS : WITHOUT_FREE_POLLS;

/** Without free polls, texts that ask for a quick poll match the intent for a paid one. */
const WITHOUT_FREE_POLLS = withoutFreePolls(INTENTS);

function withoutFreePolls(all: readonly KnownIntent[]): readonly KnownIntent[] {
  const quick = all.find(({ id }) => id === 'quick_poll')!.trigger_phrases.filter((phrase) => !/\bfree\b/.test(phrase));
  return all
    .filter(({ id }) => id !== 'quick_poll')
    .map((one) => (one.id === 'run_poll' ? { ...one, trigger_phrases: [...one.trigger_phrases, ...quick] } : one));
}
