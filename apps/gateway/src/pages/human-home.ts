import type { Facts } from '../documents/facts.ts';
import { SUMMARY } from '../documents/llms.ts';
import { confidenceMeaning, quickPollCommand } from '../documents/poll-prose.ts';
import { code } from './components.ts';
import { rosterTable, simulatedNote } from './home-parts.ts';
import { html } from './html.ts';
import { layout } from './layout.ts';

/** The homepage for people, with what becomes of their data. */
export const humanHome = (facts: Facts): string =>
  layout({
    baseUrl: facts.baseUrl,
    path: '/?view=human',
    title: 'EloquentPoll: a second opinion from many models',
    description: SUMMARY,
    main: html`<h1>A second opinion, and a third, and a fourth</h1>
<p>One AI model that is wrong sounds just like one that is right. EloquentPoll asks many, from different makers. Each gets your question
and your options and casts one vote, without seeing the others. You get the winner, every single vote, and how firm the outcome is.</p>
${simulatedNote(facts)}
<h2>Try it</h2>
<p>A free poll needs no account:</p>
${code(quickPollCommand(facts), 'A command that runs a free poll')}
<p>Or <a href="/api/docs">try it in the documentation</a>.</p>
<h2>Why it costs less than asking everybody</h2>
<p>Models are asked a few at a time. As soon as the votes that are missing can no longer change the outcome, or are unlikely enough to,
the poll stops, and you pay for the votes that were cast.</p>
${rosterTable(facts)}
<h2>What the confidence means</h2>
<p>${confidenceMeaning.replaceAll('`', '')}</p>
<h2>For your agents</h2>
<p>Agents find everything by themselves: <a href="/">the page for agents</a>, <a href="/llms.txt">llms.txt</a>,
<a href="/api/examples/mcp-config">an MCP configuration</a>, <a href="/.well-known/agent-skills/index.json">a skill</a> that
tells them when a poll is worth it.</p>
<h2 id="terms">Data and terms</h2>
<p>Question, options and votes of each poll are stored. Whoever holds the id of a result can read it, without what it cost and without who
asked; ids cannot be guessed. So a question is no place for secrets or personal data. Models see the question and the options, and nothing
about you. A vote of models is no advice and no proof; you decide what follows from it. The software is free under the MIT licence.
Questions: <a href="mailto:${facts.config.contactEmail}">${facts.config.contactEmail}</a></p>`,
  });
