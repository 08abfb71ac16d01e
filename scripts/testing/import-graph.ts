import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { readJson } from '@eloquentpoll/services/json';
import { type Static, Type } from '@sinclair/typebox';

// The modules of this repository that a module may load: its imports, and every file named by a relative path in it (a
// fixture that is started as a process). Type imports are left out, because they load nothing.

const TYPE_ONLY = /^(?:import|export) type [^;]*;$/gm;
const RELATIVE = /['"`](\.{1,2}\/[^'"`\s]+\.(?:ts|mjs))['"`]/g;
const PACKAGE = /['"](@eloquentpoll\/[^'"\s]+)['"]/g;

const Exports = Type.Record(Type.String(), Type.String());
const Manifest = Type.Object({
  name: Type.String(),
  exports: Type.Optional(Type.Union([Type.String(), Exports])),
});
type Exports = Static<typeof Exports>;

interface Module {
  text: string;
  imports: string[];
}

const modules = new Map<string, Module>();
let packages: Map<string, { folder: string; exports: Exports }> | undefined;

/** Yields the text of a module and of everything that it may load. */
export function* reachableTexts(file: string): Generator<string> {
  const seen = new Set<string>();
  const open = [resolve(file)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const { text, imports } = read(next);
    yield text;
    open.push(...imports);
  }
}

function read(file: string): Module {
  const known = modules.get(file);
  if (known) return known;
  const text = readFileSync(file, 'utf8');
  const loaded = text.replace(TYPE_ONLY, '');
  const relative = [...loaded.matchAll(RELATIVE)].map(([, path = '']) => resolve(dirname(file), path));
  const ours = [...loaded.matchAll(PACKAGE)].flatMap(([, name = '']) => packageFile(name) ?? []);
  const module = { text, imports: [...relative, ...ours].filter((path) => existsSync(path)) };
  modules.set(file, module);
  return module;
}

function packageFile(specifier: string): string | null {
  packages ??= readPackages();
  const [scope, name, ...rest] = specifier.split('/');
  const found = packages.get(`${scope}/${name}`);
  if (!found) return null;
  const subpath = ['.', ...rest].join('/');
  for (const [key, target] of Object.entries(found.exports)) {
    if (key === subpath) return join(found.folder, target);
    const [before, after] = key.split('*');
    if (after !== undefined && before !== undefined && subpath.startsWith(before) && subpath.endsWith(after))
      return join(found.folder, target.replaceAll('*', subpath.slice(before.length, subpath.length - after.length)));
  }
  return null;
}

function readPackages(): Map<string, { folder: string; exports: Exports }> {
  const folders = ['packages', 'apps'].flatMap((level) =>
    readdirSync(join(root, level)).map((name) => join(root, level, name)),
  );
  const found = folders.flatMap((folder) => {
    const file = join(folder, 'package.json');
    if (!existsSync(file)) return [];
    const { name, exports = {} } = readJson(Manifest, readFileSync(file, 'utf8'));
    return [[name, { folder, exports: typeof exports === 'string' ? { '.': exports } : exports }] as const];
  });
  return new Map(found);
}
