import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import t from 'tap';
import { complete, QUESTION, RESULT, serve, sse, started } from './service.ts';

// The file is copied into projects that we do not know: it needs nothing of Node, and their compilers accept it.

const FILE = fileURLToPath(import.meta.resolve('@eloquentpoll/client/eloquentpoll.ts'));
const source = readFileSync(FILE, 'utf8');

t.test('the client runs with web globals only', async (t) => {
  const { url } = await serve(t, ({ path }, response) => {
    if (path !== '/api/poll/stream') return RESULT;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return void response.end(sse('started', started(0)) + complete(1));
  });
  const web = {
    fetch,
    URL,
    URLSearchParams,
    AbortController,
    TextDecoder,
    crypto,
    performance,
    setTimeout,
    clearTimeout,
  };
  const script = stripTypeScriptTypes(source).replaceAll(/^export /gm, '');
  const EloquentPoll = vm.runInNewContext(`${script}\nEloquentPoll`, web);
  const polls = new EloquentPoll({ baseUrl: url });
  t.equal((await polls.ask(QUESTION)).outcome, 'The Sun');
  const events: string[] = [];
  for await (const { event } of polls.stream(QUESTION)) events.push(event);
  t.same(events, ['started', 'complete']);
});

t.test('the client has no imports', async (t) => {
  t.notMatch(source, /^\s*(import|export .* from)\b|\bimport\(|\brequire\(/m);
});

t.test('the client type-checks with the DOM library, by rules as strict as any and by the usual ones', async (t) => {
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'ES2022', '--module', 'ESNext'];
  const web = ['--lib', 'ES2022,DOM,DOM.Iterable', '--types', '', '--ignoreConfig'];
  const strictest = ['--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--isolatedModules'];
  const more = ['--erasableSyntaxOnly', '--verbatimModuleSyntax'];
  // The compiler itself: tap would put its loader into the script that usually starts it.
  const { default: compiler } = await import('../../../node_modules/typescript/lib/getExePath.js');
  for (const rules of [[...strictest, ...more], []]) {
    const { status, stdout, stderr } = spawnSync(compiler(), [...flags, ...web, ...rules, FILE], { encoding: 'utf8' });
    t.equal(status, 0, stdout + stderr);
  }
});
