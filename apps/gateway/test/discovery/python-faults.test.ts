import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findPython } from '@eloquentpoll/services/python-program';
import t from 'tap';
import { pythonFaults } from '../fixtures/python-faults.ts';

// The Python client on a network that misbehaves, without a service.

const CLIENT = fileURLToPath(new URL('../../../../packages/client/src/eloquentpoll.py', import.meta.url));
const run = promisify(execFile);
const { file, env } = await findPython(process.env);

for (const KIND of ['blocking', 'asyncio']) {
  t.test(`faults of the network and of callers, ${KIND}`, async (t) => {
    const search = { ...env, KIND, PYTHONPATH: dirname(CLIENT), PYTHONDONTWRITEBYTECODE: '1' };
    const { stdout, stderr } = await run(file, ['-W', 'error', '-c', pythonFaults], { env: search });
    t.equal(stderr, '');
    const said = JSON.parse(stdout);
    const { waits, lines, refusals, tools, deliveries, uploads, copies, resumes, cancellations, connects } = said;
    t.same(waits, ['The Sun', 4, 'timeout', 'There was no answer within 0.5 s.'], 'the result is waited for too');
    t.same(lines, [1, 2], 'empty lines are no rows, and an answer that was cut between two lines is read again');
    const key = 'Idempotency-Key must be printable ASCII.';
    const moved = 'The service redirects to https://polls.example/api/poll.';
    t.match(
      refusals,
      {
        key: ['ValueError', null, 'api_key contains characters that it cannot have'],
        address: ['ValueError', null, 'base_url must not contain a user name or a password'],
        idempotency: ['EloquentPollError', 'bad_request', key],
        body: ['EloquentPollError', 'bad_request', /^The body cannot be written as JSON/],
        limit: ['EloquentPollError', 'bad_request', /not JSON compliant/],
        rows: ['EloquentPollError', 'bad_request', /not JSON compliant/],
        options: ['TypeError', null, 'options must be a list of texts, not a text'],
        moved: ['EloquentPollError', 'http_308', moved],
        tool: ['EloquentPollError', 'bad_response', 'No such tool'],
        none: ['EloquentPollError', 'bad_response', 'The answer has no session_id.'],
        other: ['EloquentPollError', 'bad_response', 'The answer has no poll_id.'],
        result: ['EloquentPollError', 'bad_response', 'The answer has no poll_id.'],
        sent: 0,
      },
      'what cannot be sent is refused before a connection is opened, without its secret',
    );
    t.same(tools, [5, 1, true], 'the error of a tool is retried, and an empty key is sent, not replaced');
    t.match(deliveries, ['EloquentPollError', 'bad_webhook', /last nan seconds/], 'no tolerance accepts nothing');
    t.same(uploads, ['EloquentPollError', 'invalid_api_key', 'Wrong key'], 'the answer to an upload that was not read');
    t.same(copies, ['No money', 'insufficient_balance', 402, true], 'an error reaches another process');
    t.same(resumes, [['started', 'complete'], true], 'a stream is resumed although no further poll is allowed yet');
    t.same(cancellations, [true, true], 'a cancellation is never lost');
    t.same(connects, { count: 0 }, 'an address that does not answer gives way to the next one');
  });
}
