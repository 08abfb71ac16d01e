import type { Facts } from '../discovery/documents/facts.ts';
import { LINK_SECTIONS, SUMMARY } from '../discovery/documents/llms.ts';
import { confidenceMeaning, quickPollAnswer, quickPollCommand } from '../discovery/documents/poll-prose.ts';
import { code } from './components.ts';
import { panelTable, simulatedNote } from './home-parts.ts';
import { html } from './html.ts';
import { layout } from './layout.ts';

/** The homepage for agents that read HTML. */
export const agentHome = (facts: Facts): string =>
  layout({
    baseUrl: facts.baseUrl,
    path: '/',
    title: 'EloquentPoll: several models vote on your question',
    description: SUMMARY,
    main: html`<h1>Ask several models, get one answer</h1>
<p class="lead">${SUMMARY}</p>
<p>You can have this page as markdown: send <code>Accept: text/markdown</code>. <a href="/?view=human">For people</a></p>
${simulatedNote(facts)}
<h2>One poll, free, without an account</h2>
<div class="grid wide-cells">
${code(quickPollCommand(facts), 'A command that runs a free poll')}
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
