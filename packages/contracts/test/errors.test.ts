import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { ERROR_CODES, ERRORS, ErrorBody, errorBody, Problem, problemBody, Recovery } from '../src/index.ts';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false, schemas: [Recovery] });
const isError = ajv.compile(ErrorBody);
const isProblem = ajv.compile(Problem);

t.test('every code makes both bodies, and both say the same', (t) => {
  for (const code of ERROR_CODES) {
    const occurrence = { code, requestId: 'req_1', detail: 'What happened.', retryAfterSeconds: 3 };
    const plain = errorBody(occurrence);
    const problem = problemBody(occurrence, 'https://polls.example');
    t.ok(isError(plain) && isProblem(problem), code);
    t.match(problem, { ...plain, status: ERRORS[code].status, retryable: ERRORS[code].retryable });
    t.ok(problem.recovery.length > 0, 'there is always something to do');
    t.equal(
      problem.retryable,
      problem.recovery.some(({ action }) => action === 'back_off'),
      'retryable means back off',
    );
  }
  t.end();
});

t.test('an occurrence without words takes those of the catalogue', (t) => {
  const problem = problemBody({ code: 'not_found', requestId: 'req_1' }, 'https://polls.example');
  t.match(problem, { error: 'Not found', title: 'Not found', detail: 'There is nothing at this path.' });
  t.notOk('errors' in problem);
  t.same(problem.recovery[0], {
    action: 'open_documentation',
    description: 'Read about this operation in the API reference.',
    method: 'GET',
    url: 'https://polls.example/api/docs',
  });
  t.end();
});

t.test('an occurrence can have ways out of its own, before those of its code', (t) => {
  const occurrence = { code: 'authentication_required', requestId: 'req_1', recovery: ['use_free_poll'] } as const;
  const problem = problemBody(occurrence, 'https://polls.example');
  t.ok(isProblem(problem));
  t.match(problem.recovery, [
    { action: 'use_free_poll', method: 'POST', url: 'https://polls.example/api/quick-poll' },
    { action: 're_authenticate' },
    { action: 'open_documentation' },
  ]);
  t.end();
});

t.test('every status of the contract has a code', (t) => {
  const statuses = new Set(ERROR_CODES.map((code): number => ERRORS[code].status));
  for (const status of [400, 401, 402, 404, 405, 406, 409, 413, 415, 422, 429, 500, 502, 503])
    t.ok(statuses.has(status), `${status}`);
  t.end();
});
