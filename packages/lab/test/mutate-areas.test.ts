import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import t from 'tap';
import { AREAS } from '../src/mutate/areas.ts';
import { EQUIVALENT } from '../src/mutate/equivalent.ts';
import { measureTest } from '../src/mutate/measure-test.ts';
import { changedLine } from '../src/mutate/mutant.ts';
import { scriptMutants } from '../src/mutate/script-mutants.ts';

t.test('every area of `npm run mutate` names files that exist', async (t) => {
  for (const { name, files, tests } of AREAS)
    t.same(
      [...files, ...tests].filter((file) => !existsSync(join(root, file))),
      [],
      name,
    );
});

t.test('a mutant that is taken for equivalent says where it is and why', async (t) => {
  const places = AREAS.flatMap(({ files, functions = [] }) => [...files, ...functions]);
  for (const { where, line, becomes, why } of EQUIVALENT) {
    t.ok(places.includes(where), where);
    t.not(line, becomes);
    t.ok(why.length > 20, why);
  }
});

t.test('each mutant of a script is one changed line, and V8 knows which tests reach it', async (t) => {
  const name = 'packages/voting/src/tally.ts';
  const source = readFileSync(join(root, name), 'utf8');
  const mutants = scriptMutants(name, source);
  t.ok(mutants.length > 10);
  for (const mutant of mutants) t.not(changedLine(source, mutant).line, changedLine(source, mutant).becomes);
  const file = join(root, name);
  const { reaches } = await measureTest(join(root, 'packages/voting/test/urn.test.ts'), [file], process.env);
  t.ok(mutants.some(({ start }) => reaches(file, start)));
  t.notOk(mutants.every(({ start }) => reaches(file, start)));
});

t.test('an operator is reached with its left side, also where its right side is never executed', (t) => {
  const source = 'export const first = (list: number[]) => list[0] ?? 7;';
  const [swap] = scriptMutants('first.ts', source).filter(({ text }) => text === '&&');
  t.equal(source.slice(swap!.start, swap!.end), '??');
  t.equal(swap!.reachedAt, source.indexOf('list[0]'));
  t.end();
});
