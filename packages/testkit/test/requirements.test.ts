import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { citationsIn, REQUIREMENTS, sectionOf } from '../src/requirements.ts';

// The manifest is only worth something while its ids are unique, the tests cite ids that exist, and the gaps are seen.

const root = fileURLToPath(new URL('../../../', import.meta.url));
const known = new Set<string>(REQUIREMENTS.map(([id]) => id));
const bracket = (...ids: string[]) => `[${ids.join(', ')}]`;

t.test('ids are unique and well formed, and every row says something', async (t) => {
  const ids = REQUIREMENTS.map(([id]) => id);
  t.same(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
    'no id occurs twice',
  );
  t.same(
    ids.filter((id) => !/^§(\d(\.\d+)?|[AI]\d)-[a-z0-9.-]+$/.test(id)),
    [],
    'no id is malformed',
  );
  t.same(
    REQUIREMENTS.filter(([, text]) => text.length <= 10),
    [],
    'no row is empty',
  );
});

t.test('citations are read from brackets, several in one, with their lines', async (t) => {
  const source = `// no id\nt.test('${bracket('§1-a', '§2-b')} x ${bracket('§3-c §4-d')}')\nconst list = ['plain'];`;
  t.same(citationsIn(source), [
    { id: '§1-a', line: 2 },
    { id: '§2-b', line: 2 },
    { id: '§3-c', line: 2 },
    { id: '§4-d', line: 2 },
  ]);
});

t.test('every cited id exists; rows without proof are listed', async (t) => {
  const files = globSync(['{apps,packages}/*/test/**/*.test.ts', 'scripts/test/**/*.test.ts'], {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  });
  t.ok(files.length > 0, 'tests were found');
  const proved = new Set<string>();
  for (const file of files)
    for (const { id, line } of citationsIn(readFileSync(root + file, 'utf8'))) {
      if (known.has(id)) proved.add(id);
      else t.fail(`${file}:${line} cites ${id}, which is not in the manifest`);
    }

  const bySection = Map.groupBy(REQUIREMENTS, ([id]) => sectionOf(id));
  for (const [section, rows] of bySection) {
    const open = rows.filter(([id]) => !proved.has(id)).map(([id]) => id.slice(section.length + 1));
    const rest = open.length > 0 ? `; without proof: ${open.join(' ')}` : '';
    t.comment(`${section} ${rows.length - open.length}/${rows.length}${rest}`);
  }
  t.comment(`${proved.size} of ${REQUIREMENTS.length} requirements are cited by a test`);
});
