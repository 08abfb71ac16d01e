import { code, tabs } from './components.ts';
import { type Html, html } from './html.ts';

// How the owner of an agent connects it: one step for each client, to the MCP server or to the chat completions.

const NAME = 'eloquentpoll';
const KEY = 'YOUR_API_KEY';

export function connectSection(baseUrl: string): Html {
  const server = { url: `${baseUrl}/api/mcp`, headers: { Authorization: `Bearer ${KEY}` } };
  return html`<h2 id="connect">Connect an agent</h2>
<p>One MCP server for every agent, and chat completions for code. Put a key from the <a href="/dashboard#keys">dashboard</a> in place of <code>${KEY}</code>.</p>
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
    id: 'connect-openai',
    title: 'OpenAI client',
    content: html`<p>Code that classifies with a client of the OpenAI API changes base URL and model. The options are an enum of the response format or of a tool, or end the text:</p>
${code(
  `const client = new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: '${KEY}' });
const { choices } = await client.chat.completions.create({
  model: 'eloquentpoll/fast',
  messages: [{ role: 'user', content: 'Which of these cities is farthest north? [Vancouver, Paris, London, Toronto]' }],
});
choices[0].message.content;`,
  'Code for the OpenAI client',
)}`,
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
