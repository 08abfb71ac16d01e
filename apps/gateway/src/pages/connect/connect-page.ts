import type { Facts } from '../../discovery/documents/facts.ts';
import { EXAMPLE } from '../../discovery/documents/poll-prose.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import { guidesOf } from '../guides/index.ts';
import { html } from '../html.ts';
import { layout } from '../layout.ts';
import { hosts } from './hosts.ts';
import { ownKey, PLACEHOLDER } from './own-key.ts';

/** /connect: install, test, further reading. */
export const connectPage = (facts: Facts): string =>
  layout({
    baseUrl: facts.baseUrl,
    path: '/connect',
    title: 'Connect an agent, editor or program · EloquentPoll',
    description:
      'Install EloquentPoll in Claude, Cursor, VS Code, ChatGPT, Codex or Gemini CLI, use it from code, and test the connection.',
    offersFreePolls: runsFreePolls(facts),
    styles: ['catalog'],
    scripts: ['own-key', 'test-connection'],
    main: html`<h1>Connect</h1>
<p class="lead">Use EloquentPoll from your agent, editor or code.</p>
<h2 id="install">Install</h2>
<p>One MCP server for every agent, and chat completions for code. Replace <code>${PLACEHOLDER}</code> with a key from the <a href="/dashboard/keys">dashboard</a>.</p>
${ownKey()}
${hosts(facts)}
<div id="test-connection" data-question="${EXAMPLE.question}" data-options="${JSON.stringify(EXAMPLE.options)}" hidden>
<h2 id="test">Test it now</h2>
<p>${runsFreePolls(facts) ? 'The first button asks a free poll, without a key. The second' : 'The button'} opens an MCP session with the key above; it runs no poll and costs nothing.</p>
<p class="row">${runsFreePolls(facts) ? askFreePoll : ''}<button class="button secondary" type="button" id="test-mcp">Test MCP</button></p>
<div id="test-outcome" role="status"></div>
</div>
<h2 id="guides">Guides</h2>
<div class="grid">
${guidesOf(facts).map(
  ({ name, title, description }) => html`<article class="card stack">
<h3><a href="/guides/${name}">${title}</a></h3>
<p>${description}</p>
</article>
`,
)}</div>
<p><a href="/surfaces">All integrations</a>, by kind of user and maturity.</p>`,
  });

const askFreePoll = html`<button class="button" type="button" id="test-poll">Ask a free poll</button> `;
