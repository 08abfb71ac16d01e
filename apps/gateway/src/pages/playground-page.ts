import type { Facts } from '../discovery/documents/facts.ts';
import { runsFreePolls } from '../polls/order/runs-free-polls.ts';
import { freePollLink } from './ask-again.ts';
import { type FreePoll, placeToAsk } from './free-poll-form.ts';
import { simulatedNote } from './home-parts.ts';
import { html } from './html.ts';
import { layout } from './layout.ts';
import { TEMPLATES } from './poll-templates.ts';

export const playgroundPage = (facts: Facts, poll: FreePoll | null, problem: string | null = null): string =>
  runsFreePolls(facts) ? playground(facts, poll ?? NO_POLL, problem) : closedPlayground(facts);

const NO_POLL: FreePoll = { question: '', options: [] };

const closedPlayground = (facts: Facts): string =>
  layout({
    baseUrl: facts.baseUrl,
    path: '/playground',
    title: 'Playground · EloquentPoll',
    description: 'How to ask your first poll of AI models.',
    main: html`<h1>Playground</h1>
<p class="lead">Polls take an account here.</p>
${simulatedNote(facts)}
${placeToAsk(facts, NO_POLL)}`,
  });

const playground = (facts: Facts, poll: FreePoll, problem: string | null): string =>
  layout({
    baseUrl: facts.baseUrl,
    path: '/playground',
    title: 'Playground: a free poll of AI models',
    description: 'Write a question and its options, and watch open-weight models vote. Free, without an account.',
    offersFreePolls: true,
    scripts: ['free-poll', 'recent-list'],
    styles: ['polls'],
    main: html`<h1>Playground</h1>
<p class="lead">Enter a question and two to five options. Up to ${facts.figures.free.models.roster_size} open models vote until the result is clear.
Free, no account.</p>
${simulatedNote(facts)}
<div class="grid wide-cells playground">
<div>
${placeToAsk(facts, poll, problem)}
</div>
<aside class="stack">
<section id="recent" hidden><h2>Your recent free polls</h2>
<p class="hint">Kept in this browser only.</p>
<ul class="plain" data-list></ul>
<p><button class="button quiet small" type="button" data-forget>Forget them</button></p></section>
<h2>Try an example</h2>
<ul class="plain templates">
${TEMPLATES.map(
  ({
    who,
    poll,
  }) => html`<li><span class="muted small">${who}</span><br><a href="${freePollLink(poll)}">${poll.question}</a></li>
`,
)}</ul>
<h2>Do this from code</h2>
<p class="muted">This page makes one call: <code>POST /api/quick-poll</code>. With <code>Accept: text/event-stream</code> it sends the votes
as they arrive. <a href="/?view=human#code">Use it from code</a></p>
</aside>
</div>`,
  });
