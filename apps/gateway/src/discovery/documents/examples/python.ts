import { runsFreePolls } from '../../../polls/order/runs-free-polls.ts';
import type { SiteFacts } from '../facts.ts';
import { EXAMPLE } from '../poll-prose.ts';
import { indented } from './indented.ts';

/** Python 3 with its standard library only. JSON of strings and lists is valid Python. */
export const pythonExample = (facts: SiteFacts): string => (runsFreePolls(facts) ? freeFirst(facts) : withKey(facts));

const freeFirst = (
  facts: SiteFacts,
): string => `"""Runs as it is: a free poll without an account. With an API key in EP_KEY it goes on to a full one."""

${beginning(facts)}


quick = post("/api/quick-poll", {"question": QUESTION, "options": OPTIONS})
print(f"Free: {quick['answer'] or 'no winner'} ({quick['reasoning']})")
print(f"Every vote: {quick['result_url']}")

key = os.environ.get("EP_KEY")
if key:
${indented(FULL_POLL, 4)}
`;

const withKey = (facts: SiteFacts): string => `"""Needs an API key in EP_KEY."""

${beginning(facts)}


key = os.environ["EP_KEY"]
${FULL_POLL}
`;

const beginning = ({ baseUrl }: SiteFacts): string => `import json
import os
import urllib.error
import urllib.request
import uuid

BASE = "${baseUrl}"
QUESTION = ${JSON.stringify(EXAMPLE.question)}
OPTIONS = ${JSON.stringify(EXAMPLE.options)}


def post(path, body, headers=None):
    request = urllib.request.Request(
        BASE + path,
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", **(headers or {})},
    )
    try:
        with urllib.request.urlopen(request, timeout=130) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        problem = json.load(error)
        raise SystemExit(f"{problem['code']}: {problem['error']}") from None`;

const FULL_POLL = `poll = post(
    "/api/poll",
    {
        "question": QUESTION,
        "options": OPTIONS,
        "preset": "fast",
        "confidence_threshold": 0.9,
        "max_cost_usd": 0.1,
    },
    # A retry with the same key gets the first result and is not charged again.
    {"Authorization": f"Bearer {key}", "Idempotency-Key": str(uuid.uuid4())},
)
print(f"Full: {poll['winning_option'] or 'no winner'}, {poll['status']}, confidence {poll['confidence']}")
print(poll["tally"], f"for \${poll['costs']['total_estimated_cost']}")`;
