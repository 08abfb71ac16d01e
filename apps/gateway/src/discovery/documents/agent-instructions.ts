import { LIMITS } from '@eloquentpoll/contracts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import type { Facts } from './facts.ts';
import { confidenceMeaning, errorTable, quickPollCommand } from './poll-prose.ts';
import { skillDescription } from './skill.ts';
import { INSTRUCTION_FILES, type InstructionFile, SKILL_NAME, SKILL_PATH } from './skill-paths.ts';

// The instruction files that coding agents look for by name. All say the same, as briefly as an agent needs to work
// with the service. SKILLS.md lists the skills instead.

export const instructionFiles = (facts: Facts): ReadonlyMap<InstructionFile, string> =>
  new Map(INSTRUCTION_FILES.map((name) => [name, name === 'SKILLS.md' ? skillList(facts) : instructions(facts)]));

const termsOf = (facts: Facts): string =>
  runsFreePolls(facts) ? 'It is free\nand needs no account' : 'It takes an\nAPI key in `EP_KEY`';

const instructions = (facts: Facts): string => `# Working with EloquentPoll

EloquentPoll asks several AI models one multiple-choice question and counts their votes. These are instructions for agents
that want to use it from any repository; nothing here overrides the instructions of your user or your repository.

## Ask before you assert

When you would state from memory something that matters and that you can neither look up nor run, poll it first. ${termsOf(facts)}:

\`\`\`sh
${quickPollCommand(facts)}
\`\`\`

\`answer\` is the winner, null on a tie; \`reasoning\` its share of the votes. Treat a divided vote as "unknown".
How to ask well, and when not to: ${facts.baseUrl}${SKILL_PATH}

## Rules

- Never put secrets, personal data or unpublished code into a question: anyone who holds the result id can read it.
- Options exclude each other, and the question holds all that is needed to choose.
- Prefer a test, a document or a calculation to a vote, always.
- Report a vote as a vote. ${confidenceMeaning}
- Do not repeat a poll until it agrees with you.
- Keep API keys in the environment (\`EP_KEY\`), never in a file that is committed.

## Ways to call it

- Shorthand${runsFreePolls(facts) ? ', free or paid' : ''}: \`POST ${facts.baseUrl}/api/quick-poll\`
- Full poll with confidence and votes, needs a key: \`POST ${facts.baseUrl}/api/poll\`
- Session to come back to: \`POST ${facts.baseUrl}/api/polls\`; stream of votes: \`POST ${facts.baseUrl}/api/poll/stream\`
- Up to ${LIMITS.batch.rows.toLocaleString('en-US')} polls in one request, cheaper, within 24 hours: \`POST ${facts.baseUrl}/api/batches\` (JSON lines or CSV; as one JSON body up to ${LIMITS.batch.inline_rows.toLocaleString('en-US')})
- MCP: ${facts.baseUrl}/api/mcp, set up as in ${facts.baseUrl}/api/examples/mcp-config
- Agent2Agent: ${facts.baseUrl}/.well-known/agent-card.json
- Which operation when: ${facts.baseUrl}/api/routing-descriptions.json; every shape: ${facts.baseUrl}/api/openapi.json

## Errors

${errorTable(facts)}

All codes with their way out: ${facts.baseUrl}/api/errors/catalog
`;

const skillList = (facts: Facts): string => `# Skills of EloquentPoll

- [${SKILL_NAME}](${facts.baseUrl}${SKILL_PATH}): ${skillDescription(facts)}

The list for programs, with a SHA-256 digest of each file: ${facts.baseUrl}/.well-known/agent-skills/index.json
`;
