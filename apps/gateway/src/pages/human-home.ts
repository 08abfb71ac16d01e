import { EXAMPLES } from '../discovery/documents/examples/index.ts';
import type { Facts } from '../discovery/documents/facts.ts';
import { SUMMARY } from '../discovery/documents/llms.ts';
import { aboutSeconds, aboutUsd } from '../discovery/documents/poll-figures.ts';
import { confidenceMeaning, EXAMPLE } from '../discovery/documents/poll-prose.ts';
import { code, tabs } from './components.ts';
import { freePollForm, livePollPlace } from './free-poll-form.ts';
import { earlyStop, panelTable, simulatedNote } from './home-parts.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';

const LANGUAGES = [
  { id: 'curl', title: 'Shell' },
  { id: 'typescript', title: 'TypeScript' },
  { id: 'python', title: 'Python' },
  { id: 'mcp-config', title: 'MCP' },
] as const;

/** The homepage for people: what it is, a poll to try, code, and what becomes of their data. */
export const humanHome = (facts: Facts): string =>
  layout({
    baseUrl: facts.baseUrl,
    path: '/?view=human',
    title: 'EloquentPoll: a second opinion from many models',
    description: SUMMARY,
    scripts: ['free-poll'],
    styles: ['polls', 'home'],
    main: html`<div class="hero">
<div class="pitch">
<h1>A second opinion, and a third, and a fourth</h1>
<p class="lead">One AI model that is wrong sounds just like one that is right. EloquentPoll asks many, from different makers. Each casts one
vote, without seeing the others. You get the winner, every single vote, and how firm the outcome is.</p>
<p class="row"><a class="button" href="/playground">Ask something of your own</a><a class="button secondary" href="/pricing">What it costs</a></p>
${figures(facts)}
</div>
<div class="try" id="try">
${simulatedNote(facts)}
${freePollForm(EXAMPLE)}
${livePollPlace}
</div>
</div>

<h2>Why it costs less than asking everybody</h2>
<div class="grid wide-cells align">
<div class="prose">
<p>Models are asked a few at a time. After each vote we work out how likely the models that are left are to elect another option. As soon as
they no longer can, or are unlikely enough to for your threshold, the poll stops. You pay for the votes that were cast.</p>
<p><a href="/models">Which models vote</a>, and how they did lately.</p>
</div>
${earlyStop()}
</div>
${panelTable(facts)}

<h2 id="code">Code in four languages</h2>
${tabs(
  'Languages',
  LANGUAGES.map(({ id, title }) => ({ id: `code-${id}`, title, content: example(facts, id, title) })),
)}

<div class="grid wide-cells">
<section><h2>What the confidence means</h2>
<p>${confidenceMeaning.replaceAll('`', '')}</p></section>
<section><h2>For your agents</h2>
<p>Agents find everything by themselves: <a href="/">the page for agents</a>, <a href="/llms.txt">llms.txt</a>,
<a href="/api/examples/mcp-config">an MCP configuration</a>, <a href="/.well-known/agent-skills/index.json">a skill</a> that
says when a poll is worth it. <a href="/surfaces">All the ways in</a></p></section>
</div>
<section class="prose"><h2 id="terms">Data and terms</h2>
<p>Question, options and votes of each poll are stored. Anyone who holds the id of a result can read it, without what it cost and without who
asked; ids cannot be guessed. So a question is no place for secrets or personal data. Models see the question and the options, and nothing
about you. A vote of models is no advice and no proof; you decide what follows from it. The software is free under the MIT licence.
Questions: <a href="mailto:${facts.config.contactEmail}">${facts.config.contactEmail}</a></p></section>`,
  });

const figures = ({ figures: { broad } }: Facts): Html => html`<dl class="figures">
<div class="stat"><dt>models in the usual panel</dt><dd>${broad.models.roster_size}</dd></div>
<div class="stat"><dt>a usual poll</dt><dd>${aboutUsd(broad.cost_usd.expected)}</dd></div>
<div class="stat"><dt>median time</dt><dd>${aboutSeconds(broad.latency_ms.p50)}</dd></div>
</dl>`;

const example = ({ baseUrl }: Facts, language: (typeof LANGUAGES)[number]['id'], title: string): Html =>
  html`${code(EXAMPLES[language].code(baseUrl), title)}<p class="small"><a href="/api/examples/${language}">Only the code</a></p>`;
