import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import type { Facts } from './facts.ts';
import {
  confidenceMeaning,
  costNote,
  costTable,
  errorTable,
  freeLimits,
  paidLimits,
  quickPollAnswer,
  quickPollCommand,
} from './poll-prose.ts';
import { SKILL_NAME } from './skill-paths.ts';

// SKILL.md, according to agentskills.io.

export const skillDescription = (facts: Facts): string =>
  `Ask several independent AI models one multiple-choice question before relying on your own answer. Use it when a fact, an API detail, a number or a choice between 2 to 10 options matters and cannot be looked up, run or computed. ${runsFreePolls(facts) ? 'Free without an account.' : 'Takes an API key.'}`;

export const skill = (facts: Facts): string => `---
name: ${SKILL_NAME}
description: ${skillDescription(facts)}
license: MIT
compatibility: Needs HTTP access to ${new URL(facts.baseUrl).host}; curl or any HTTP client will do.
metadata:
  version: "1.0.0"
  homepage: ${facts.baseUrl}/
---

${skillBody(facts)}`;

export const skillBody = (facts: Facts): string => `# Prevent hallucinations with a quick poll

A model that is wrong sounds like one that is right. Models of different makers are less often wrong in the same way, so
their vote is a cheap check on a claim that you would otherwise make alone. EloquentPoll puts one question with 2 to 10
options to several models, counts one vote each, and says which option won.

## When to poll

- You are about to state something from memory, it matters, and you have no source at hand: which version changed a
  default, what a flag does, who wrote what, which of two similar names is real.
- Two readings of a task are plausible, and choosing the wrong one costs more than a few seconds.
- A step is hard to undo, and you want more than your own opinion before you take it.

## When not to poll

- You can look it up, run it or compute it. A test beats any vote.
- The models cannot know it: it is private, or newer than they are. (\`theme: "${runsFreePolls(facts) ? 'free_search' : 'search'}"\` lets them search the web.)
- The question would contain secrets or personal data. It is stored, and anyone who holds the result id can read it.
- The answer is a matter of the user's taste. Ask the user.

## Ask

\`\`\`sh
${quickPollCommand(facts)}
\`\`\`

\`\`\`json
${quickPollAnswer(facts)}
\`\`\`

The one-line form is the same poll: \`{"poll": "Is 2027 a leap year? [yes, no]"}\`. A question alone is enough when
it can be answered with yes or no, asks for a rating, or names its choices itself ("A, B or C").${facts.panels.simulated ? '\n\nOn this installation simulated models vote: the form of the answers is real, their content is not.' : ''}

A good question decides the quality of the vote:

- Options exclude each other. Add "none of these" where that is possible.
- Everything the models need is in the question: they see nothing of your conversation.
- No hint at the answer that you expect. A leading question is answered with what it leads to.

## Read the answer

- \`answer\` is the option with the most votes; null when there was a tie, or no valid vote.
- \`reasoning\` gives the winner's share of the valid votes, and calls it confidence: "80% confidence" means that four of five
  models agreed. Three of five is an open question.
- \`result_url\` has every single vote, and the confidence in the stricter sense. ${confidenceMeaning}
- \`status\` is \`partial\` when votes that are missing could have changed the outcome.

Then:

| The vote | What to do |
| --- | --- |
| clearly for what you thought | go on, and say that models agreed, not that it is proven |
| clearly for something else | doubt yourself first; look for a source before you answer |
| divided, or a tie | say that it is uncertain; do not poll again until the answer pleases you |

## What it costs

${costTable(facts)}

${costNote}

${runsFreePolls(facts) ? `Free polls need no account. Their limits:\n\n${freeLimits}\n\n` : ''}With an API key (\`Authorization: Bearer ep_k_...\`) you choose the panel, see all votes and the confidence, and pay for
votes; refusals and unusable answers are free up to a daily allowance: \`POST ${facts.baseUrl}/api/poll\` with \`question\`, \`options\`, \`preset\`, \`confidence_threshold\`, \`max_cost_usd\`.
The limits there:

${paidLimits}

Send an \`Idempotency-Key\` with whatever you might repeat: a retry at the same address gets the first result and makes no second poll.

## When something goes wrong

Errors are \`{"error", "code", "request_id"}\`. With \`Accept: application/problem+json\` they also say how to recover.

${errorTable(facts)}

All codes: ${facts.baseUrl}/api/errors/catalog

## More

- Overview of everything: ${facts.baseUrl}/llms.txt
- Ready-to-run examples: ${facts.baseUrl}/api/examples
- As MCP tools: ${facts.baseUrl}/api/examples/mcp-config
`;
