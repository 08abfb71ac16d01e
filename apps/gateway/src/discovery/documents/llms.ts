import { ERROR_CODES, ERRORS } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { markdownList, markdownTable } from '../../http/markdown.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import { authOf, describedOperations } from './api-description.ts';
import type { Facts } from './facts.ts';
import { confidenceMeaning, costNote, costTable, quickPollCommand } from './poll-prose.ts';
import { skillBody } from './skill.ts';
import { SKILL_PATH } from './skill-paths.ts';
import { surfacesOf } from './surfaces.ts';

// The overview for language models in the format of llmstxt.org: a short version with links, and a complete version.

const TITLE = 'EloquentPoll';

const WHAT_IT_DOES =
  'Asks several AI models one multiple-choice question, counts one vote each, and stops once the result is final or likely enough to stay.';

export function serviceSummary(facts: Facts): string {
  const terms = runsFreePolls(facts)
    ? 'Free without an account. An API key adds every panel, the single votes and the confidence.'
    : 'Polls take an API key and a balance.';
  return `${WHAT_IT_DOES} ${terms}`;
}

/** The service in one paragraph. */
export const about = (
  facts: Facts,
): string => `A caller sends a question with 2 to 10 options. Models from several vendors each vote for one option, without seeing the other
votes. The option with the most votes wins (first past the post). A poll ends when its outcome is locked, certain enough for
the caller's threshold, out of budget, or when every model has voted. Each finished poll has a public result under an id that
cannot be guessed, and a signed receipt from which every vote, the odds and the decision to stop can be worked out once more.

${confidenceMeaning}

The shortest poll, ${runsFreePolls(facts) ? 'free and without an account' : 'with an API key in `EP_KEY`'}:

\`\`\`sh
${quickPollCommand(facts)}
\`\`\`

${costTable(facts)}

${costNote}${facts.panels.simulated ? '\n\nThis installation asks simulated models: every result says `"simulated": true`, and its content means nothing.' : ''}`;

interface Linked {
  name: string;
  path: string;
  note: string;
}

interface LinkSection {
  title: string;
  /** Its heading in llms.txt, if the format prescribes one. */
  llmsTitle?: string;
  links: readonly Linked[];
}

export const LINK_SECTIONS: readonly LinkSection[] = [
  {
    title: 'Start here',
    links: [
      { name: 'Skill', path: SKILL_PATH, note: 'when a poll is worth it, how to ask, how to read the answer' },
      {
        name: 'Examples',
        path: '/api/examples',
        note: 'curl, TypeScript, Python and an MCP configuration ready to run',
      },
      { name: 'Typed client', path: '/eloquentpoll.ts', note: 'one TypeScript file, for Node, Deno, Bun and browsers' },
      { name: 'Python client', path: '/eloquentpoll.py', note: 'one typed file, standard library only, with asyncio' },
      {
        name: 'Routing descriptions',
        path: '/api/routing-descriptions.json',
        note: 'when to call what, and its cost',
      },
      { name: 'Registration', path: '/auth.md', note: 'how an agent gets an API key, by wallet or payment' },
      { name: 'Errors', path: '/api/errors/catalog', note: 'every code, and what to do about it' },
    ],
  },
  {
    title: 'Descriptions',
    links: [
      { name: 'OpenAPI 3.1', path: '/api/openapi.json', note: 'every operation and shape' },
      { name: 'AsyncAPI 3.0', path: '/asyncapi.json', note: 'the stream of votes' },
      { name: 'API catalog', path: '/.well-known/api-catalog', note: 'all APIs in one linkset' },
      { name: 'MCP server card', path: '/.well-known/mcp/server-card.json', note: 'the Model Context Protocol server' },
      { name: 'Agent card', path: '/.well-known/agent-card.json', note: 'the Agent2Agent endpoint' },
      {
        name: 'Chat models',
        path: '/v1/models',
        note: 'for clients of the OpenAI API: base URL /v1, the options as an enum, the winner as the completion',
      },
      {
        name: 'Graph node',
        path: '/api/graph/node-spec',
        note: 'tool definitions for three vendors',
      },
    ],
  },
  {
    title: 'Live data',
    links: [
      { name: 'Estimate', path: '/api/poll/estimate', note: 'what a poll costs and how long it takes, now' },
      { name: 'Profiles', path: '/api/profiles', note: 'named bundles of preset, threshold and cost' },
      { name: 'Reputation', path: '/api/reputation', note: 'recent performance' },
      {
        name: 'Receipts',
        path: '/api/receipts/days',
        note: 'sealed days of the signed statements at /api/results/{id}/receipt; their keys are at /.well-known/jwks.json',
      },
      { name: 'Calibration', path: '/api/calibration', note: 'confidence against what came true; as a page: /trust' },
      { name: 'Surfaces', path: '/api/surfaces', note: 'every way to find and use the service' },
      { name: 'Health', path: '/api/health', note: 'is it up?' },
    ],
  },
  {
    title: 'More',
    llmsTitle: 'Optional',
    links: [
      {
        name: 'Everything in one text',
        path: '/llms-full.txt',
        note: 'this, the skill, all operations and all errors',
      },
      { name: 'Documentation', path: '/api/docs', note: 'for people' },
      { name: 'Agent instructions', path: '/~/AGENTS.md', note: 'instructions file for coding agents' },
      { name: 'Intents', path: '/api/intents', note: 'phrases mapped to operations' },
    ],
  },
];

export const sections = ({ baseUrl }: Facts): string =>
  LINK_SECTIONS.map(
    ({ title, llmsTitle = title, links }) =>
      `## ${llmsTitle}\n\n${markdownList(links.map(({ name, path, note }) => `[${name}](${baseUrl}${path}): ${note}`))}`,
  ).join('\n\n');

export const llms = (facts: Facts): string => `# ${TITLE}

> ${serviceSummary(facts)}

${about(facts)}

${sections(facts)}
`;

export const llmsFull = (app: FastifyInstance, facts: Facts): string => `# ${TITLE}

> ${serviceSummary(facts)}

${about(facts)}

${sections(facts)}

---

${skillBody(facts)}
---

# Operations

${operationTable(app)}

Shapes of requests and answers: ${facts.baseUrl}/api/openapi.json

## When to call which

${guidance(app)}

# Errors

Every error is \`{"error", "code", "request_id"}\`; as \`application/problem+json\` it carries the steps that lead out of it.

${markdownTable(
  ['Code', 'Status', 'Meaning', 'Same request later', 'Way out'],
  ERROR_CODES.map((code) => {
    const { status, description, retryable, recovery } = ERRORS[code];
    return [`\`${code}\``, String(status), description, retryable ? 'may work' : 'will not work', recovery.join(', ')];
  }),
)}

# Surfaces

${markdownList(surfacesOf(facts).map(({ pattern_id, description, artifacts }) => `\`${pattern_id}\`: ${description} (${artifacts.join(', ')})`))}
`;

const operationTable = (app: FastifyInstance): string =>
  markdownTable(
    ['Operation', 'What it does', 'Credentials'],
    describedOperations(app)
      .filter(isNoFile)
      .map((operation) => [
        `\`${operation.method} ${operation.path}\``,
        operation.summary,
        authOf(operation).replaceAll('_', ' '),
      ]),
  );

/** Excludes mirrored files, which another line lists. */
const isNoFile = ({ tag }: { tag: string }): boolean => tag !== 'Files';

function guidance(app: FastifyInstance): string {
  const advised = describedOperations(app).filter(({ tag }) => tag !== 'Files' && tag !== 'System');
  return markdownList(
    advised.map(({ method, path, hints: { usage } }) =>
      [
        `\`${method} ${path}\`: ${usage.when_to_use.join(' ')}`,
        ...usage.when_not_to_use.map((not) => `Not when: ${not}`),
      ].join(' '),
    ),
  );
}
