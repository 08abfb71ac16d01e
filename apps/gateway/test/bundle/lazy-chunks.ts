import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

// What the code of a bundle loads when it is first used, and what it takes from that. TypeScript knows the names that a
// package has; a chunk of a CommonJS package has a default export and no other.

export interface LazyImport {
  /** The file whose code it is, and the chunk. */
  by: string;
  chunk: string;
  /** What is taken of it where it is loaded, as paths; nothing where the whole module is kept. */
  taken: readonly string[][];
}

const IMPORT = /(?:\{([^{}]*)\}=\(?await )?import\("(\.[^"]+)"\)(\)\.default\b)?/g;

export function lazyImports(folder: string): LazyImport[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => /^(app|chunks\/.*)\.js$/.test(name))
    .flatMap((by) =>
      [...readFileSync(join(folder, by), 'utf8').matchAll(IMPORT)].map(([, names, path, ofDefault]) => ({
        by,
        chunk: join(folder, dirname(by), path!),
        taken: namesIn(names).map((name) => (ofDefault ? ['default', name] : [name])),
      })),
    );
}

/** `a` and `b` of `a,b:c`: a bundle renames what it takes. */
const namesIn = (taken = ''): string[] => taken.split(',').flatMap((one) => one.split(':')[0]!.trim() || []);

/** What of it is not there; rejects when the chunk does not load. */
export async function missingNames({ chunk, taken }: LazyImport): Promise<string[]> {
  const module = (await import(pathToFileURL(chunk).href)) as object;
  const missing = taken
    .filter((path) => path.reduce<unknown>(memberOf, module) === undefined)
    .map((path) => path.join('.'));
  const isCommonJs = Object.keys(module).join() === 'default';
  const takesDefault = taken.some(([first]) => first === 'default');
  return isCommonJs && !takesDefault ? [...missing, 'any export but default'] : missing;
}

const memberOf = (value: unknown, name: string): unknown => (value as Record<string, unknown> | undefined)?.[name];
