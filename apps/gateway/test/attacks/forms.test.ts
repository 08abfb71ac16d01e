import t from 'tap';
import { build } from '../fixtures/build.ts';

// What forms of our pages send is a form. Anything else is refused before anybody looks into it.

t.test('a form is a form', async (t) => {
  const { app, keyWith, sessionFor } = await build(t);
  const { accountId } = await keyWith(5);
  const session = await sessionFor(accountId);
  const forms = ['/playground', '/result/EP-2026-01-01-0123456789abcdef/feedback', '/dashboard/keys'];
  for (const url of forms) {
    for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'application/xml']) {
      for (const payload of ['{"question":"Which is best of these?","option":["A","B"]}', '{', '[]', 'null']) {
        const answer = await app.inject({
          method: 'POST',
          url,
          headers: { ...session, 'content-type': type },
          payload,
        });
        t.equal(answer.statusCode, 415, `${url} as ${type}: ${payload}`);
      }
    }
    for (const payload of [
      '',
      '=',
      '&&&',
      '__proto__=x',
      'option=A&option=B',
      'question=%00',
      'question=%ff',
      'a=1&'.repeat(5_000),
    ]) {
      const headers = { ...session, 'content-type': 'application/x-www-form-urlencoded' };
      const answer = await app.inject({ method: 'POST', url, headers, payload });
      // What says nothing is a key without a label.
      const fine = url === '/dashboard/keys' ? [201, 400] : [400, 404];
      t.ok(fine.includes(answer.statusCode), `${url}: ${answer.statusCode} to ${payload.slice(0, 30)}`);
    }
  }
});
