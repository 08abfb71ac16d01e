import { runsFreePolls } from '../../../polls/order/runs-free-polls.ts';
import type { SiteFacts } from '../facts.ts';
import { EXAMPLE } from '../poll-prose.ts';
import { indented } from './indented.ts';

export const typescriptExample = (facts: SiteFacts): string =>
  runsFreePolls(facts) ? freeFirst(facts) : withKey(facts);

const freeFirst = (
  facts: SiteFacts,
): string => `// Runs as it is with Node 24, Deno or Bun: a free poll without an account. With an API key in EP_KEY it goes on to a full one.
${question(facts)}

interface QuickPoll {
  answer: string | null;
  reasoning: string;
  result_url?: string;
}

${POST}

const quick = await post<QuickPoll>('/api/quick-poll', { question: QUESTION, options: OPTIONS });
console.log(\`Free: \${quick.answer ?? 'no winner'} (\${quick.reasoning})\`);
console.log(\`Every vote: \${quick.result_url}\`);

const key = process.env.EP_KEY;
if (key) {
${indented(FULL_POLL, 2)}
}

export {};
`;

const withKey = (facts: SiteFacts): string => `// Runs as it is with Node 24, Deno or Bun. Needs an API key in EP_KEY.
${question(facts)}

${POST}

const key = process.env.EP_KEY;
if (!key) throw new Error('EP_KEY has no API key');
${FULL_POLL}

export {};
`;

const question = ({ baseUrl }: SiteFacts): string => `const BASE = '${baseUrl}';

const QUESTION = ${JSON.stringify(EXAMPLE.question)};
const OPTIONS = ${JSON.stringify(EXAMPLE.options)};`;

const POST = `interface Poll {
  poll_id: string;
  status: 'success' | 'partial' | 'failed';
  winning_option: string | null;
  confidence: number | null;
  tally: Record<string, number>;
  costs: { total_estimated_cost: number };
}

async function post<T>(path: string, body: object, headers: Record<string, string> = {}): Promise<T> {
  const response = await fetch(BASE + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(130_000),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(\`\${answer.code}: \${answer.error}\`);
  return answer;
}`;

const FULL_POLL = `const order = { question: QUESTION, options: OPTIONS, preset: 'fast', confidence_threshold: 0.9, max_cost_usd: 0.1 };
const poll = await post<Poll>('/api/poll', order, {
  authorization: \`Bearer \${key}\`,
  // A retry with the same key gets the first result and is not charged again.
  'idempotency-key': crypto.randomUUID(),
});
console.log(\`Full: \${poll.winning_option ?? 'no winner'}, \${poll.status}, confidence \${poll.confidence}\`);
console.log(poll.tally, \`for $\${poll.costs.total_estimated_cost}\`);`;
