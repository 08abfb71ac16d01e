import { ask, sentenceOf } from './ask.ts';
import { element } from './draw.ts';
import { type FieldIssue, issueSentence } from './issue-sentences.ts';

// The estimated cost of a paid poll, and the errors that keep it from running. The service validates it as in a real
// run, but asks no model.

export interface Order {
  question: string;
  options: readonly string[];
  /** A preset, a saved panel by name, or models by their ids. */
  preset?: string;
  panel?: string;
  models?: readonly string[];
  /** Only for polls whose models search the web. */
  theme?: string;
  reasons?: boolean;
  confidence_threshold: number;
  max_cost_usd: number;
}

interface Estimates {
  cost_usd?: { expected: number; max: number };
  latency_ms?: { p50: number };
  models?: { expected_calls: number; roster_size: number };
  min_cost_usd?: number;
  balance_sufficient?: boolean;
  within_budget?: boolean;
}

export interface OrderEstimate {
  said: readonly Node[];
  /** Names of the invalid fields. */
  wrongFields: readonly string[];
  /** The limit does not even cover one vote. */
  buysNoVote: boolean;
}

export async function estimateOrder(order: Order): Promise<OrderEstimate> {
  const answer = await ask('POST', '/api/poll', { ...order, dry_run: true });
  // Running the poll may still work, or will report the error.
  if (!answer.ok) return { said: [error(sentenceOf(answer))], wrongFields: [], buysNoVote: false };
  const wrong = (answer.body.issues as FieldIssue[]).map(issueSentence);
  const estimates = answer.body.estimates as Estimates;
  const { min_cost_usd: smallest = 0 } = estimates;
  const buysNoVote = order.max_cost_usd > 0 && order.max_cost_usd < smallest;
  const hints = [...new Set(wrong.map(({ says }) => says))].map((says) => element('p', { class: 'field-error' }, says));
  if (buysNoVote) {
    const enough = `This limit is too low for a single vote. The smallest that would do is $${roundedUp(smallest)}.`;
    return { said: [...hints, error(enough)], wrongFields: ['max_cost_usd'], buysNoVote };
  }
  return { said: [...hints, ...figuresOf(estimates)], wrongFields: wrong.map(({ field }) => field), buysNoVote };
}

function figuresOf({ cost_usd, latency_ms, models, balance_sufficient, within_budget }: Estimates): Node[] {
  if (!cost_usd || !latency_ms || !models) return [];
  const facts = [
    ['Expected', usd(cost_usd.expected)],
    ['At most', usd(cost_usd.max)],
    ['Models', `about ${Math.round(models.expected_calls)} of ${models.roster_size}`],
    ['Time', `about ${(latency_ms.p50 / 1_000).toFixed(1)} s`],
  ];
  const figures = element(
    'dl',
    { class: 'figures' },
    ...facts.map(([name, value]) => element('div', {}, element('dt', {}, name!), element('dd', {}, value!))),
  );
  return [
    figures,
    ...(balance_sufficient === false
      ? [
          element(
            'p',
            { class: 'field-error' },
            `Not enough balance: this poll may cost up to ${usd(cost_usd.max)}. `,
            element('a', { href: '#funds' }, 'Add funds'),
          ),
        ]
      : []),
    ...(within_budget === false
      ? [element('p', { class: 'hint' }, 'This limit may stop the poll before there are enough votes.')]
      : []),
  ];
}

const error = (says: string): Node => element('p', { class: 'field-error', role: 'alert' }, says);

const usd = (amount: number): string => `$${Number(amount.toPrecision(3))}`;

/** Two significant digits, rounded up. */
function roundedUp(amount: number): string {
  const step = 10 ** (Math.floor(Math.log10(amount)) - 1);
  return (Math.ceil(amount / step - 1e-9) * step).toFixed(Math.max(2, -Math.floor(Math.log10(step))));
}
