import { code, tabs } from './components.ts';
import { type Html, html } from './html.ts';

// How the owner of an agent connects it: one step for each client, all to the same MCP server.

const NAME = 'eloquentpoll';
const KEY = 'YOUR_API_KEY';

export function connectSection(baseUrl: string): Html {
  const server = { url: `${baseUrl}/api/mcp`, headers: { Authorization: `Bearer ${KEY}` } };
  return html`<h2 id="connect">Connect an agent</h2>
<p>One MCP server for every client. Put a key from the <a href="/dashboard#keys">dashboard</a> in place of <code>${KEY}</code>.</p>
${tabs('Clients', [
  {
    id: 'connect-claude',
    title: 'Claude Code',
    content: code(
      `claude mcp add --transport http ${NAME} ${server.url} \\\n  --header "Authorization: Bearer ${KEY}"`,
      'Command for Claude Code',
    ),
  },
  {
    id: 'connect-cursor',
    title: 'Cursor',
    content: html`<p><a class="button" href="cursor://anysphere.cursor-deeplink/mcp/install?name=${NAME}&amp;config=${encodeURIComponent(btoa(JSON.stringify(server)))}">Add to Cursor</a></p>
<p class="muted small">Or in <code>.cursor/mcp.json</code>:</p>
${code(JSON.stringify({ mcpServers: { [NAME]: server } }, null, 2), 'Configuration for Cursor')}`,
  },
  {
    id: 'connect-vscode',
    title: 'VS Code',
    content: html`<p><a class="button" href="vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: NAME, type: 'http', ...server }))}">Install in VS Code</a></p>
<p class="muted small">Or in <code>.vscode/mcp.json</code>:</p>
${code(JSON.stringify({ servers: { [NAME]: { type: 'http', ...server } } }, null, 2), 'Configuration for VS Code')}`,
  },
  {
    id: 'connect-prompt',
    title: 'Any agent',
    content: html`<p>Paste this. It needs no key: the agent asks a free poll.</p>
${code(
  `Read ${baseUrl}/llms.txt. Then ask a free EloquentPoll: "Which of these cities is farthest north?" with the options Vancouver, Paris, London and Toronto, and show me the page of the result.`,
  'Prompt for any agent',
)}`,
  },
])}
`;
}
