import { PLACEHOLDER } from '../connect/own-key.ts';
import { type Html, html } from '../html.ts';
import { type Guide, shell } from './guide.ts';

/** Where free polls are not offered, the guide leaves them out. */
export const firstPoll = (isFree: boolean): Guide => ({
  name: 'first-poll',
  title: 'First poll',
  description: isFree
    ? 'From nothing to an answer in two commands: a free poll without an account, then a full one with a key.'
    : 'From a key to an answer in one command.',
  content: (baseUrl) => html`${isFree ? freePoll(baseUrl) : ''}<h2>Full, with a key</h2>
${shell(
  `curl -sS --fail-with-body ${baseUrl}/api/poll \\
  -H 'Authorization: Bearer ${PLACEHOLDER}' \\
  -H 'Content-Type: application/json' \\
  -H "Idempotency-Key: first-$(date +%s)" \\
  -d '{"question": "Which city is farthest north?",
       "options": ["Vancouver", "Paris", "London"],
       "preset": "fast", "max_cost_usd": 0.10}'`,
  'full poll',
)}
<p>The question has at least 10 characters; there are 2 to 10 options, all different. The poll never costs more than <code>max_cost_usd</code>,
and stops as soon as its outcome is final or likely enough to stay (<code>confidence_threshold</code>, by default 0.95).</p>
<p>What would it cost? <code>POST /api/poll/dry-run</code> takes the same body, runs nothing, and reports errors and the expected cost.</p>
<p>Next: <a href="/guides/reading-results">Reading a result</a></p>`,
});

const freePoll = (baseUrl: string): Html => html`<h2>Free, without an account</h2>
${shell(
  `curl -sS --fail-with-body ${baseUrl}/api/quick-poll \\
  -H 'Content-Type: application/json' \\
  -d '{"poll": "Which city is farthest north? [Vancouver, Paris, London]"}'`,
  'free poll',
)}
<p>At most 5 options of 50 characters. <code>answer</code> is the winner, or null if there is none; <code>page_url</code> is the result for people.</p>
`;
