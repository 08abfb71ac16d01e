import t from 'tap';
import { build } from '../fixtures/build.ts';
import { generateClients } from '../fixtures/generated-clients.ts';
import { listen } from '../fixtures/read-stream.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 8 s
// Clients that are generated from our document compile strictly and run against the service.

const OPENAPI_FETCH = `
import createClient from 'openapi-fetch';
import type { paths } from './openapi-typescript.js';

const headers = { Authorization: \`Bearer \${process.env.KEY}\` };
const client = createClient<paths>({ baseUrl: process.env.BASE ?? '', headers });
const body = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const poll = await client.POST('/api/poll', { body });
const quick = await client.POST('/api/quick-poll', { body });
const session = await client.POST('/api/polls', { body });
const refused = await client.POST('/api/poll', { body: { ...body, options: ['A'] } });
const id = session.data?.session_id ?? '';
const status = await client.GET('/api/polls/{id}/status', { params: { path: { id }, header: { prefer: 'wait=5' } } });
console.log(JSON.stringify({
  outcome: poll.data?.outcome,
  votes: poll.data?.tally.A,
  answer: quick.data?.answer,
  status: status.data?.status,
  code: refused.error?.code,
}));
`;

const HEY_API = `
import { client } from './hey-api/client.gen.js';
import { createPoll, createSession, getSessionStatus, quickPoll, streamPoll } from './hey-api/sdk.gen.js';

client.setConfig({ baseUrl: process.env.BASE ?? '', auth: () => process.env.KEY });
const body = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const poll = await createPoll({ body });
const quick = await quickPoll({ body });
const session = await createSession({ body });
const refused = await createPoll({ body: { ...body, options: ['A'] } });
const path = { id: session.data?.session_id ?? '' };
const status = await getSessionStatus({ path, headers: { prefer: 'wait=5' } });
const { stream } = await streamPoll({ body });
let events = 0;
for await (const _event of stream) events += 1;
console.log(JSON.stringify({
  outcome: poll.data?.outcome,
  votes: poll.data?.tally.A,
  answer: quick.data?.answer,
  status: status.data?.status,
  code: refused.error?.code,
  streamed: events > 1,
}));
`;

const PYTHON = `
import json, os, urllib.error, urllib.request
from typing import Any, List
from poll_types import PollRequest, poll_request_to_dict, poll_response_from_dict, problem_from_dict, quick_poll_result_from_dict


def post(path: str, body: PollRequest) -> Any:
    headers = {"Authorization": "Bearer " + os.environ["KEY"], "Content-Type": "application/json", "X-Machine-Client": "true"}
    data = json.dumps(poll_request_to_dict(body)).encode()
    with urllib.request.urlopen(urllib.request.Request(os.environ["BASE"] + path, data, headers)) as answer:
        return json.load(answer)


def ask(options: List[str]) -> PollRequest:
    return PollRequest.from_dict({"question": "Which of these is the best choice?", "options": options})


poll = poll_response_from_dict(post("/api/poll", ask(["A", "B"])))
quick = quick_poll_result_from_dict(post("/api/quick-poll", ask(["A", "B"])))
try:
    post("/api/poll", ask(["A"]))
    code = None
except urllib.error.HTTPError as refused:
    code = problem_from_dict(json.load(refused)).code.value
print(json.dumps({"outcome": poll.outcome, "votes": poll.tally["A"], "answer": quick.answer, "code": code}))
`;

t.test('openapi-typescript with openapi-fetch, hey-api and quicktype (Python) compile and run', async (t) => {
  const { app, context, keyWith } = await build(t);
  await standInWorker(t, context);
  const document = (await app.inject({ url: '/api/openapi.json' })).body;
  const programs = { 'fetch-client.ts': OPENAPI_FETCH, 'hey-client.ts': HEY_API, 'client.py': PYTHON };
  const clients = await generateClients(t, document, programs);
  const origin = await listen(app);
  const { key } = await keyWith(10);
  const env = { BASE: origin, KEY: key };

  const said = { outcome: 'A', votes: 9, answer: 'A', code: 'validation_error' };
  t.same(await clients.node('fetch-client.js', env), { ...said, status: 'completed' });
  t.same(await clients.node('hey-client.js', env), { ...said, status: 'completed', streamed: true });
  t.same(await clients.python('client.py', env), said);
});
