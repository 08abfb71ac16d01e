import { runsFreePolls } from '../../../polls/order/runs-free-polls.ts';
import type { SiteFacts } from '../facts.ts';
import { EXAMPLE } from '../poll-prose.ts';
import { indented } from './indented.ts';

/** A POSIX shell script. The question contains no single quote, because that would end the quoting. */
export const curlExample = (facts: SiteFacts): string => (runsFreePolls(facts) ? freeFirst(facts) : withKey(facts));

const freeFirst = ({ baseUrl }: SiteFacts): string => `#!/bin/sh
# Runs as it is: a free poll without an account. With an API key in EP_KEY it goes on to a full one.
set -eu
BASE='${baseUrl}'

echo 'A free quick poll:'
curl -sS --fail-with-body "$BASE/api/quick-poll" \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(EXAMPLE)}'
echo

if [ -n "\${EP_KEY:-}" ]; then
  echo 'A full poll:'
${indented(FULL_POLL, 2)}
fi
`;

const withKey = ({ baseUrl }: SiteFacts): string => `#!/bin/sh
# Needs an API key in EP_KEY.
set -eu
BASE='${baseUrl}'
: "\${EP_KEY:?needs an API key}"

${FULL_POLL}
`;

const FULL_POLL = `# A retry with the same Idempotency-Key gets the first result and is not charged again.
curl -sS --fail-with-body "$BASE/api/poll" \\
  -H "Authorization: Bearer $EP_KEY" \\
  -H "Idempotency-Key: example-$(date +%s)-$$" \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify({ ...EXAMPLE, preset: 'fast', confidence_threshold: 0.9, max_cost_usd: 0.1 })}'
echo`;
