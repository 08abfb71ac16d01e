import type { Facts } from '../discovery/documents/facts.ts';
import { LINK_SECTIONS, serviceSummary } from '../discovery/documents/llms.ts';
import { confidenceMeaning, EXAMPLE, quickPollAnswer, quickPollCommand } from '../discovery/documents/poll-prose.ts';
import { runsFreePolls } from '../polls/order/runs-free-polls.ts';
import { code } from './components.ts';
import { placeToAsk } from './free-poll-form.ts';
import { panelTable, simulatedNote } from './home-parts.ts';
import { html } from './html.ts';
import { layout } from './layout.ts';

/**
 * The homepage for agents that read HTML. People arrive here too, so it begins with a form and a link to their page.
 */
export const agentHome = (facts: Facts): string =>
  layout({
    baseUrl: facts.baseUrl,
    path: '/',
    title: 'EloquentPoll: several models vote on your question',
    description: serviceSummary(facts),
    offersFreePolls: runsFreePolls(facts),
    scripts: runsFreePolls(facts) ? ['free-poll'] : [],
    styles: ['polls', 'home'],
    main: html`<div class="hero">
<div class="pitch">
<h1>Ask several AI models. Get one answer.</h1>
<p class="lead">${serviceSummary(facts)}</p>
</div>
<div class="try" id="try">
${placeToAsk(facts, EXAMPLE)}
</div>
<div class="rest stack">
${simulatedNote(facts)}
<p class="card row spread"><span>This page is written for agents.</span> <a class="button secondary" href="/?view=human">Not an agent? Start here</a></p>
<p class="muted">Also as markdown: send <code>Accept: text/markdown</code>.</p>
</div>
</div>
<h2>One poll by API, ${runsFreePolls(facts) ? 'free, without an account' : 'with a key'}</h2>
<div class="grid wide-cells">
${code(quickPollCommand(facts), `A command that runs a ${runsFreePolls(facts) ? 'free ' : ''}poll`)}
${code(quickPollAnswer(facts), 'Its answer')}
</div>
<h2>How to read the answer</h2>
<p class="prose">${confidenceMeaning.replaceAll('`', '')}</p>
<h2>What it costs</h2>
${panelTable(facts)}
<div class="grid small-cells">
${LINK_SECTIONS.map(
  ({ title, links }) => html`<section><h2>${title}</h2>
<dl class="links">
${links.map(
  ({ name, path, note }) => html`<dt><a href="${path}">${name}</a></dt><dd>${note}</dd>
`,
)}</dl></section>
`,
)}</div>`,
  });
