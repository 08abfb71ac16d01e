import type { Facts } from '../discovery/documents/facts.ts';
import { EXAMPLE } from '../discovery/documents/poll-prose.ts';
import { type FreePoll, freePollForm, livePollPlace } from './free-poll-form.ts';
import { simulatedNote } from './home-parts.ts';
import { html } from './html.ts';
import { layout } from './layout.ts';

/** Example polls. Each is a link that fills in the form. */
const QUESTIONS: readonly { name: string; poll: FreePoll }[] = [
  { name: 'A fact that is easy to mix up', poll: EXAMPLE },
  {
    name: 'A decision in code',
    poll: {
      question: 'A queue may deliver a message twice. Where is a duplicate best caught?',
      options: ['In the producer', 'In the queue', 'In the consumer, by an idempotency key'],
    },
  },
  {
    name: 'A choice of words',
    poll: {
      question: 'Which button text is clearest on a page where a user deletes a project for good?',
      options: ['OK', 'Delete project', 'Confirm', 'Proceed'],
    },
  },
];

export const playgroundPage = (facts: Facts, poll: FreePoll | null, problem: string | null = null): string =>
  layout({
    baseUrl: facts.baseUrl,
    path: '/playground',
    title: 'Playground: a free poll of AI models',
    description: 'Write a question and its options, and watch open-weight models vote. Free, without an account.',
    scripts: ['free-poll'],
    styles: ['polls'],
    main: html`<h1>Playground</h1>
<p class="lead">Write a question and two to five options. ${facts.figures.free.models.roster_size} open-weight models are asked, a few at a time, until the
outcome is certain enough. Free, and without an account.</p>
${simulatedNote(facts)}
<div class="grid wide-cells playground">
${freePollForm(poll ?? { question: '', options: [] }, problem)}
<div class="beside">
${livePollPlace}
<aside class="stack"><h2>To start from</h2>
<ul class="plain">
${QUESTIONS.map(
  ({
    name,
    poll,
  }) => html`<li><a href="${linkTo(poll)}">${name}</a><br><span class="muted small">${poll.question}</span></li>
`,
)}</ul>
<h2>The same by program</h2>
<p class="muted">A poll here is one call: <code>POST /api/quick-poll</code>. With <code>Accept: text/event-stream</code> it sends the votes
as they arrive, which is what this page does. <a href="/?view=human#code">Code in four languages</a></p>
</aside>
</div>
</div>`,
  });

function linkTo({ question, options }: FreePoll): string {
  const query = new URLSearchParams({ question });
  for (const option of options) query.append('option', option);
  return `/playground?${query}`;
}
