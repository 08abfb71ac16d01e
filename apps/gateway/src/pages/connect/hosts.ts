import type { SiteFacts } from '../../discovery/documents/facts.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import { code, tabs } from '../components.ts';
import { type Html, html } from '../html.ts';
import { PLACEHOLDER } from './own-key.ts';

// How the owner of an agent connects it: one step per host, in the form that the host's own documentation gives.

const NAME = 'eloquentpoll';

interface DeepLink {
  label: string;
  /** The start of the address; the configuration is appended. */
  address: string;
  config: object;
  encoding: 'base64' | 'json';
}

/** A link that opens the host with the configuration in it. The page inserts the reader's key. */
function deepLink({ label, address, config, encoding }: DeepLink): Html {
  const text = JSON.stringify(config);
  const href = address + encodeURIComponent(encoding === 'base64' ? btoa(text) : text);
  return html`<p><a class="button" href="${href}" data-address="${address}" data-config="${text}" data-encoding="${encoding}">${label}</a></p>`;
}

const json = (value: object): string => JSON.stringify(value, null, 2);

export function hosts(facts: SiteFacts): Html {
  const { baseUrl } = facts;
  const url = `${baseUrl}/api/mcp`;
  const server = { url, headers: { Authorization: `Bearer ${PLACEHOLDER}` } };
  const bearer = `"Authorization: Bearer ${PLACEHOLDER}"`;
  return tabs('Hosts', [
    {
      id: 'connect-claude-code',
      title: 'Claude Code',
      content: code(
        `claude mcp add --transport http ${NAME} ${url} \\\n  --header ${bearer}`,
        'Command for Claude Code',
      ),
    },
    { id: 'connect-claude', title: 'Claude', content: bySettings('Claude', url) },
    {
      id: 'connect-cursor',
      title: 'Cursor',
      content: html`${deepLink({ label: 'Add to Cursor', address: `cursor://anysphere.cursor-deeplink/mcp/install?name=${NAME}&config=`, config: server, encoding: 'base64' })}
<p class="muted small">Or in <code>.cursor/mcp.json</code>:</p>
${code(json({ mcpServers: { [NAME]: server } }), 'Configuration for Cursor')}`,
    },
    {
      id: 'connect-vscode',
      title: 'VS Code',
      content: html`${deepLink({ label: 'Install in VS Code', address: 'vscode:mcp/install?', config: { name: NAME, type: 'http', ...server }, encoding: 'json' })}
<p class="muted small">Or in <code>.vscode/mcp.json</code>:</p>
${code(json({ servers: { [NAME]: { type: 'http', ...server } } }), 'Configuration for VS Code')}`,
    },
    { id: 'connect-chatgpt', title: 'ChatGPT', content: bySettings('ChatGPT', url) },
    {
      id: 'connect-codex',
      title: 'Codex',
      content: html`<p>In <code>~/.codex/config.toml</code>, with the key in the environment as <code>EP_KEY</code>:</p>
${code(`[mcp_servers.${NAME}]\nurl = "${url}"\nbearer_token_env_var = "EP_KEY"`, 'Configuration for Codex')}`,
    },
    {
      id: 'connect-gemini',
      title: 'Gemini CLI',
      content: code(
        `gemini mcp add --transport http --header ${bearer} \\\n  ${NAME} ${url}`,
        'Command for Gemini CLI',
      ),
    },
    {
      id: 'connect-openai',
      title: 'OpenAI client',
      content: html`<p>Code that classifies with a client of the OpenAI API only needs another base URL and model. The options are an enum in the response format or in a tool, or in brackets at the end of the text:</p>
${code(
  `const client = new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: '${PLACEHOLDER}' });
const { choices } = await client.chat.completions.create({
  model: 'eloquentpoll/fast',
  messages: [{ role: 'user', content: 'Which of these cities is farthest north? [Vancouver, Paris, London, Toronto]' }],
});
choices[0].message.content;`,
  'Code for the OpenAI client',
)}`,
    },
    {
      id: 'connect-python',
      title: 'Python',
      content: html`<p><a href="/eloquentpoll.py" download>eloquentpoll.py</a> is the typed client in one file, for Python 3.10 and newer. <a href="/eloquentpoll.ts" download>eloquentpoll.ts</a> is the same for TypeScript.</p>
${code(
  `from eloquentpoll import EloquentPoll

polls = EloquentPoll(api_key="${PLACEHOLDER}")
result = polls.ask("Which of these cities is farthest north?", ["Vancouver", "Paris", "London", "Toronto"])
print(result["outcome"], result["confidence"])`,
  'Code for Python',
)}`,
    },
    ...(runsFreePolls(facts) ? [{ id: 'connect-prompt', title: 'Any agent', content: prompt(baseUrl) }] : []),
  ]);
}

const prompt = (baseUrl: string): Html => html`<p>Paste this. It needs no key: the agent asks a free poll.</p>
${code(
  `Read ${baseUrl}/llms.txt. Then ask a free EloquentPoll: "Which of these cities is farthest north?" with the options Vancouver, Paris, London and Toronto, and show me the page of the result.`,
  'Prompt for any agent',
)}`;

/** For hosts whose connectors use a login instead of a key. */
const bySettings = (host: 'Claude' | 'ChatGPT', url: string): Html => html`${
  host === 'Claude'
    ? html`<p>In <strong>Settings → Connectors</strong> choose <strong>Add custom connector</strong> and paste this address:</p>`
    : html`<p>Turn on <strong>Settings → Connectors → Advanced → Developer mode</strong>, then choose <strong>Create</strong> and paste this address:</p>`
}
${code(url, `Address for ${host}`)}
<p class="muted small">${host} connects from its own servers, so the address must be public and https. You sign in with the identity provider of this service, if it lets apps register.</p>`;
