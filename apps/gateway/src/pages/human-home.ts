import { EXAMPLES } from '../discovery/documents/examples/index.ts';
import type { Facts } from '../discovery/documents/facts.ts';
import { serviceSummary } from '../discovery/documents/llms.ts';
import { aboutSeconds, aboutUsd } from '../discovery/documents/poll-figures.ts';
import { confidenceMeaning, EXAMPLE } from '../discovery/documents/poll-prose.ts';
import { runsFreePolls } from '../polls/order/runs-free-polls.ts';
import { code, tabs } from './components.ts';
import { placeToAsk } from './free-poll-form.ts';
import { earlyStop, panelTable, sampleResults, simulatedNote } from './home-parts.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';

const LANGUAGES = [
  { id: 'curl', title: 'Shell' },
  { id: 'typescript', title: 'TypeScript' },
  { id: 'python', title: 'Python' },
  { id: 'mcp-config', title: 'MCP' },
] as const;

/** The homepage for people: what the service is, a poll to try, code samples, and what happens to their data. */
export const humanHome = (facts: Facts): string =>
  layout({
    baseUrl: facts.baseUrl,
    path: '/?view=human',
    title: 'EloquentPoll: ask several AI models, get one answer',
    description: serviceSummary(facts),
    offersFreePolls: runsFreePolls(facts),
    scripts: runsFreePolls(facts) ? ['free-poll'] : [],
    styles: ['polls', 'home'],
    main: html`<div class="hero">
<div class="pitch">
<h1>Ask ${counted(facts.figures.broad.models.roster_size)} AI models. Get one answer, and see how split they are.</h1>
<p class="lead">One AI model that is wrong sounds just like one that is right. EloquentPoll asks several, from different vendors. Each casts one
vote without seeing the others. You see the winner, every vote, and how settled the result is.</p>
</div>
<div class="try" id="try">
${placeToAsk(facts, EXAMPLE)}
</div>
<div class="rest stack">
${simulatedNote(facts)}
${figures(facts)}
${earlyStop()}
</div>
</div>

<h2>What an answer looks like</h2>
${sampleResults()}

<h2>Why it costs less than asking every model</h2>
<div class="grid wide-cells align">
<div class="prose">
<p>Models are asked a few at a time. After each vote we compute the chance that the remaining models could still change the winner. The poll
stops once they can’t, or once that chance is smaller than you care about. You pay for the votes that were cast.</p>
<p><a href="/models">See the models and their recent record</a> · <a href="/pricing">See pricing</a> · <a href="/trust">See how often confidence came true</a></p>
</div>
<div>
${panelTable(facts)}
</div>
</div>

<h2 id="code">Use it from code</h2>
${tabs(
  'Languages',
  LANGUAGES.map(({ id, title }) => ({ id: `code-${id}`, title, content: example(facts, id, title) })),
)}

<div class="grid wide-cells">
<section><h2>What the confidence means</h2>
<p>${confidenceMeaning.replaceAll('`', '')}</p></section>
<section><h2>For your agents</h2>
<p>Agents can discover everything from here: <a href="/">the page for agents</a>, <a href="/llms.txt">llms.txt</a>,
<a href="/api/examples/mcp-config">an MCP configuration</a> and <a href="/.well-known/agent-skills/index.json">a skill</a> that
says when a poll is worth it. <a href="/connect">Connect yours</a></p></section>
</div>
<section class="prose"><h2 id="terms">Data and terms</h2>
<p>Question, options and votes of each poll are stored. Anyone with a result’s link can read it, but not who asked or what it cost. Links can’t
be guessed. Don’t put secrets or personal data in a question. Models see the question and the options, not who asks; some model
providers get a pseudonym for each caller. A vote is neither advice nor proof. The decision is yours. The software is free under
the MIT licence.
Questions: <a href="mailto:${facts.config.contactEmail}">${facts.config.contactEmail}</a></p></section>`,
  });

const WORDS = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
];

/** Numbers up to twelve are written as words. */
const counted = (models: number): string => WORDS[models] ?? String(models);

const figures = ({ figures: { broad } }: Facts): Html => html`<dl class="figures">
<div class="stat"><dt>models on the default panel</dt><dd>${broad.models.roster_size}</dd></div>
<div class="stat"><dt>typical cost per poll</dt><dd>${aboutUsd(broad.cost_usd.expected)}</dd></div>
<div class="stat"><dt>median time</dt><dd>${aboutSeconds(broad.latency_ms.p50)}</dd></div>
</dl>`;

const example = (facts: Facts, language: (typeof LANGUAGES)[number]['id'], title: string): Html =>
  html`${code(EXAMPLES[language].code(facts), title)}<p class="small"><a href="/api/examples/${language}">Raw file</a></p>`;
