import t, { type Test } from 'tap';
import { build } from '../fixtures/build.ts';
import { lint } from '../fixtures/lint.ts';

// slow: 3 s

t.test(
  '[§4.7-openapi, §9-openapi-3.1.0, §9-openapi-version] the description is valid and names its shapes',
  async (t) => {
    const { app } = await build(t);
    const answer = await app.inject({ url: '/api/openapi.json' });
    t.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
    const known = { 'if-none-match': String(answer.headers.etag) };
    t.equal((await app.inject({ url: '/api/openapi.json', headers: known })).statusCode, 304);
    const document = answer.json();
    t.match(document, { openapi: '3.1.0', info: { version: '2.0.0' }, servers: [{ url: 'https://polls.example' }] });
    t.ok(
      document.components.schemas.PollRequest &&
        document.components.schemas.PollResponse &&
        document.components.schemas.Error,
    );
    const formsOf = (path: string) => document.paths[path].post.requestBody.content['application/json'].schema.anyOf;
    const named = (...names: string[]) => names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
    t.same(
      document.paths['/api/poll'].post.requestBody.content['application/json'].schema,
      named('PollRequest')[0],
      'shorthand is not in the operation',
    );
    t.same(formsOf('/api/quick-poll'), named('QuickPollRequest', 'FreePollRequest'));
    t.same(document.components.schemas.PollRequest.required, ['options'], '[§2.1-options-only-required]');
    t.equal(document.components.schemas.PollRequest.properties.prompt.deprecated, true, '[§9-prompt-deprecated]');
    const headersOf = (path: string, method: string): string[] =>
      document.paths[path][method].parameters.flatMap((parameter: { in: string; name: string; $ref?: string }) =>
        parameter.$ref ? ['X-Machine-Client'] : parameter.in === 'header' ? [parameter.name] : [],
      );
    t.same(
      headersOf('/api/poll', 'post'),
      ['last-event-id', 'idempotency-key', 'X-Machine-Client'],
      '[§8-idempotency-key]',
    );
    t.same(
      headersOf('/api/poll/stream', 'post'),
      ['last-event-id', 'idempotency-key', 'X-Machine-Client'],
      '[§A6-stream-reattach]',
    );
    t.same(
      headersOf('/api/polls/{id}/status', 'get'),
      ['prefer', 'if-none-match', 'X-Machine-Client'],
      '[§A6-status-prefer-wait]',
    );
    // The address of the OpenAI API, which its clients expect, is the one exception.
    const versioned = Object.keys(document.paths).filter((path) => /\/v\d/.test(path));
    t.same(versioned, ['/v1/chat/completions', '/v1/models', '/v1/models/{model}'], '[§9-no-version-segment]');

    for (const [path, methods] of Object.entries(document.paths) as [string, object][])
      for (const operation of Object.values(methods)) checkOperation(t, path, operation);
    t.notMatch(answer.body, /"default":(?!\{)/, 'no default makes a field of a generated request required');
    t.match(document.info.contact, { email: 'support@polls.example' });
    for (const name of ['RateLimit-Limit', 'RateLimit-Policy', 'Retry-After', 'Idempotency-Key', 'ETag'])
      t.ok(document.components.headers[name].description, name);
    t.equal(document.components.parameters.MachineClient.name, 'X-Machine-Client');
    t.ok(document.components.responses.TooManyRequests.headers['Retry-After']);

    const problems = await lint(t, answer.body);
    // A login only sends browsers on.
    const expected = ['operation-2xx-response'];
    t.same(
      problems.filter(({ ruleId }) => !expected.includes(ruleId)),
      [],
    );
  },
);

interface Described {
  operationId: string;
  description?: string;
  responses: Record<string, { $ref?: string; headers?: object; content?: object }>;
}

function checkOperation(t: Test, path: string, { operationId, description, responses }: Described): void {
  t.ok(description && description.length > 10, `${operationId} is described`);
  for (const [status, { $ref, headers = {}, content = {} }] of Object.entries(responses)) {
    if (status >= '400') t.ok($ref?.startsWith('#/components/responses/'), `${operationId} ${status} is shared`);
    else if (status < '300') t.ok('RateLimit-Remaining' in headers, `${operationId} ${status}`);
    const types = Object.keys(content);
    if (path !== '/api/poll/stream')
      t.notOk(types.includes('text/event-stream'), `${operationId} answers with one JSON type`);
  }
}

t.test('a refused batch has the shape in the document that it has in the answer', async (t) => {
  const { app, keyWith } = await build(t);
  const document = (await app.inject({ url: '/api/openapi.json' })).json();
  const shapeOf = (status: number, type: string): string => {
    const { $ref } = document.paths['/api/batches'].post.responses[status];
    const answer = document.components.responses[$ref.split('/').at(-1)];
    return answer.content[type].schema.$ref.split('/').at(-1);
  };
  t.same(
    [400, 402].flatMap((status) =>
      ['application/json', 'application/problem+json'].map((type) => shapeOf(status, type)),
    ),
    ['BatchError', 'BatchProblem', 'BatchCostError', 'BatchCostProblem'],
  );
  const { bearer } = await keyWith(5);
  const payload = { requests: [{ question: 'Which of these is best?', options: ['A'] }] };
  const refused = (await app.inject({ method: 'POST', url: '/api/batches', headers: bearer, payload })).json();
  t.match(refused, { code: 'batch_invalid', errors: [{ line: 1, field: 'options' }] });
});

t.test('[§4.7-docs] the reader comes from here, whole, and reaches nowhere else', async (t) => {
  const { app } = await build(t);
  const page = await app.inject({ url: '/api/docs/try' });
  t.match(String(page.headers['content-type']), /^text\/html/);
  t.notMatch(page.body, /https?:\/\//, 'no third party');
  const policy = String(page.headers['content-security-policy']);
  t.match(policy, /script-src 'self';/);
  t.notMatch(policy, /https?:|\*/);
  const scripts = [...page.body.matchAll(/src="([^"]+)"/g)].map((match) => match[1]!);
  t.equal(scripts.length, 2);
  for (const url of scripts) {
    const script = await app.inject({ url });
    t.match(script, { statusCode: 200, headers: { 'content-type': 'text/javascript; charset=utf-8' } });
    t.match(script.body, /Scalar/);
  }
  const zipped = await app.inject({ url: '/api/docs/reader.js', headers: { 'accept-encoding': 'br, gzip' } });
  t.equal(zipped.headers['content-encoding'], 'gzip');
  t.ok(zipped.rawPayload.length < 2_000_000);
});
