import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { oneByteText, requireOneByteText } from '../bundling/one-byte-text.ts';

const PROGRAM = `
// “Comments” → whatever
const naïve = 'model’s 🗳';
const html = (strings, ...parts) => strings.join('|') + parts.join();
return [naïve, \`→ \${naïve}\`, html\`an “option”: \${1} · …\`, / · |🗳$/.exec(naïve)?.[0], /^[^🗳]+🗳$/u.test(naïve), { ключ: 'é' }]
`;

const result = (program: string): unknown => JSON.parse(runInNewContext(`JSON.stringify((() => {${program}})())`));

t.test('a program in ASCII does the same: strings, templates, patterns and names', async (t) => {
  const ascii = oneByteText(PROGRAM);
  t.match(ascii, /^[\0-\x7f]+$/);
  t.same(result(ascii), result(PROGRAM));
  t.equal(oneByteText('const a = "b";'), 'const a = "b";', 'and what is ASCII stays as it is');
});

t.test('a file that would take two bytes for each character is refused with the place', async (t) => {
  const folder = t.testdir({ 'ascii.js': 'const a = "\\u2019";' });
  requireOneByteText(join(folder, 'ascii.js'));
  const file = join(folder, 'app.js');
  writeFileSync(file, 'const before = 1; const title = "a model’s vote"; const after = 2;');
  t.throws(() => requireOneByteText(file), { message: /app\.js would take two bytes .*: .*title = "a model’s vote"/ });
});
