import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import t from 'tap';
import { build } from '../fixtures/build.ts';

// slow: 3 s

const { app } = await build(t);
const get = (url: string, headers = {}) => app.inject({ url, headers });
const CARDS = ['/.well-known/agent.json', '/.well-known/agent-card.json'];
const SERVER_CARDS = ['/.well-known/mcp/server-card.json', '/api/mcp/server-card'];

t.test('cards have ETag, cache and CORS headers, and ignore the Host header', async (t) => {
  for (const url of [...CARDS, ...SERVER_CARDS, '/api/agent-card']) {
    const answer = await get(url, { host: 'evil.example', 'x-forwarded-host': 'evil.example' });
    t.match(answer, { statusCode: 200, headers: { etag: /^"/, 'access-control-allow-origin': '*' } }, url);
    t.match(answer.headers['cache-control'], /^public, max-age=\d+/);
    t.notMatch(answer.body, 'evil');
    t.equal((await get(url, { 'if-none-match': String(answer.headers.etag) })).statusCode, 304);
    const head = await app.inject({ method: 'HEAD', url });
    t.match([head.statusCode, head.headers.etag, head.body], [200, answer.headers.etag, '']);
  }
});

t.test(
  '[§4.6-agent-json, §4.6-agent-card-alias, §9-agent-card-version] one card at both paths, byte for byte',
  async (t) => {
    const [first, second] = await Promise.all(CARDS.map((url) => get(url)));
    t.same(second?.rawPayload, first?.rawPayload);
    t.equal(second?.headers.etag, first?.headers.etag);
    const card = first?.json();
    t.equal(card.version, '1.0.0');
    // Required by each version of the protocol.
    for (const field of [
      'protocolVersion',
      'url',
      'name',
      'description',
      'capabilities',
      'skills',
      'defaultInputModes',
      'defaultOutputModes',
    ])
      t.ok(card[field], field);
    t.match(card.supportedInterfaces, [
      { protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { protocolVersion: '0.3' },
    ]);
    for (const { url } of [card, ...card.supportedInterfaces, ...card.additionalInterfaces])
      t.equal(url, 'https://polls.example/api/a2a/tasks/send');
    t.match(card.capabilities, { streaming: true, pushNotifications: false, extendedAgentCard: false });
    for (const example of card.skills.flatMap(({ examples }: { examples: string[] }) => examples))
      t.match(JSON.parse(example), { question: String, options: Array });
  },
);

t.test(
  '[§4.7-agent-card] the unified card is the agent card plus all protocols, and each address answers',
  async (t) => {
    const card = (await get(CARDS[0]!)).json();
    const { protocols, ...rest } = (await get('/api/agent-card')).json();
    t.same(rest, card);
    const paths = JSON.stringify(protocols).match(/(?<=https:\/\/polls\.example)[^"]+/g) ?? [];
    t.ok(paths.length > 8);
    for (const url of paths) t.not((await get(url)).statusCode, 404, url);
  },
);

/** The fields of the draft of server cards (SEP-2127) and their constraints. */
const DRAFT = {
  type: 'object',
  required: ['$schema', 'name', 'version', 'description'],
  properties: {
    $schema: { const: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json' },
    name: { type: 'string', pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$', minLength: 3, maxLength: 200 },
    version: { type: 'string', maxLength: 255 },
    description: { type: 'string', minLength: 1, maxLength: 100 },
    title: { type: 'string', minLength: 1, maxLength: 100 },
    websiteUrl: { type: 'string', format: 'uri' },
    remotes: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type', 'url'],
        properties: {
          type: { enum: ['streamable-http', 'sse'] },
          url: { type: 'string', format: 'uri' },
          headers: {
            type: 'array',
            items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
          },
          supportedProtocolVersions: { type: 'array', items: { type: 'string', format: 'date' } },
        },
      },
    },
  },
};

t.test('[§4.7-mcp-server-card] the server card satisfies SEP-2127 and SEP-1649', async (t) => {
  const ajv = new Ajv2020();
  formats.default(ajv);
  const fits = ajv.compile(DRAFT);
  const [wellKnown, beside] = await Promise.all(SERVER_CARDS.map((url) => get(url)));
  t.equal(wellKnown?.headers['content-type'], 'application/json; charset=utf-8');
  t.match(beside?.headers['content-type'], /^application\/mcp-server-card\+json\b/);
  t.equal(beside?.body, wellKnown?.body);
  const card = wellKnown?.json();
  t.ok(fits(card), JSON.stringify(fits.errors));
  t.match(card, {
    serverInfo: { name: 'eloquentpoll', version: String },
    endpoint: 'https://polls.example/api/mcp',
    transport: { type: 'streamable-http', endpoint: '/api/mcp' },
    authentication: { required: true, schemes: ['bearer'] },
    protocolVersion: '2026-07-28',
  });
  t.equal((await get('/api/health')).json().version, card.version);
});

t.test('server.json: the entry for the public registry of MCP servers', async (t) => {
  const ajv = new Ajv2020();
  formats.default(ajv);
  const $schema = { const: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json' };
  const fits = ajv.compile({
    ...DRAFT,
    properties: { ...DRAFT.properties, $schema, remotes: { ...DRAFT.properties.remotes, minItems: 1 } },
    additionalProperties: false,
  });
  const entry = (await get('/server.json')).json();
  t.ok(fits(entry), JSON.stringify(fits.errors));
  const [{ url, headers, ...more }] = entry.remotes;
  t.same([url, more], ['https://polls.example/api/mcp', { type: 'streamable-http' }]);
  t.match(headers, [{ name: 'Authorization', isSecret: true, isRequired: true }]);
});

t.test('a service on an IP address has a valid name in its card', async (t) => {
  for (const baseUrl of ['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080']) {
    const { app } = await build(t, { baseUrl });
    t.match((await app.inject({ url: SERVER_CARDS[0]! })).json().name, /^[a-zA-Z0-9.-]+\/eloquentpoll$/);
  }
});
