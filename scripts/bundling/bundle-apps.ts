import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { root } from '@eloquentpoll/launch/folders';
import { build, type Plugin } from 'esbuild';
import { nodeModulesByName } from './node-modules-by-name.ts';
import { oneByteText, requireOneByteText } from './one-byte-text.ts';

// Each process as a folder that needs nothing but Node: `main.js` and `app.js`, which are read at the start, chunks that
// are read when they are first used, the files that the code reads as they are, and what Node made of it all when it
// compiled it here, which another Node of the same version need not do again. Source maps lie beside them, so that a stack
// names our lines.

export const APPS = ['gateway', 'worker', 'simulator'] as const;
export type BundledApp = (typeof APPS)[number];

export interface Bundle {
  app: BundledApp;
  /** What Node is started with. */
  file: string;
  /** Of what is read at the start. */
  bytes: number;
}

/** Some packages are CommonJS inside and ask for `require` or their folder. */
export const BANNER = [
  "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);",
  'const { filename: __filename, dirname: __dirname } = import.meta;',
].join('\n');

const MAIN = `const { enableCompileCache } = process.getBuiltinModule('node:module');
enableCompileCache({ directory: import.meta.dirname + '/compiled', portable: true });
await import('./app.js');
`;

/** A process without settings reads all of its code, says what it lacks, and ends. */
function compile(file: string): void {
  spawnSync(process.execPath, [file], { env: {}, stdio: 'ignore', timeout: 30_000 });
}

/** Native helpers that their packages do without. */
export const OPTIONAL = ['pg-native', 'msgpackr-extract', 'bufferutil', 'utf-8-validate'];

export async function bundleApp(app: BundledApp, into: string): Promise<Bundle> {
  const folder = join(into, app);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { app: join(root, 'apps', app, 'src/main.ts') },
    outdir: folder,
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'linked',
    sourcesContent: false,
    // Licences, which name people, lie beside the code.
    legalComments: 'external',
    chunkNames: 'chunks/[name]-[hash]',
    banner: { js: BANNER },
    external: OPTIONAL,
    plugins: [filesBeside(folder), nodeModulesByName()],
    metafile: true,
    logLevel: 'warning',
  });
  for (const path of Object.keys(metafile.outputs)) if (path.endsWith('.js')) requireOneByteText(resolve(root, path));
  const file = join(folder, 'main.js');
  writeFileSync(file, MAIN);
  // Without it Node reads each file twice to find out what it is.
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n');
  if (app !== 'simulator') compile(file);
  return { app, file, bytes: atStart(metafile.outputs, folder) };
}

interface Output {
  bytes: number;
  imports: { path: string; kind: string }[];
}

function atStart(outputs: Record<string, Output>, folder: string): number {
  const read = new Set<string>();
  const visit = (path: string): void => {
    if (read.has(path) || !outputs[path]) return;
    read.add(path);
    for (const { path: next, kind } of outputs[path].imports) if (kind !== 'dynamic-import') visit(next);
  };
  const entry = Object.keys(outputs).find((path) => resolve(root, path) === join(folder, 'app.js'));
  if (entry) visit(entry);
  return [...read].reduce((sum, path) => sum + outputs[path]!.bytes, 0);
}

const NAMED_FILE = /import\.meta\.resolve\('([^']+)'\)|new URL\('(\.[^']+)', import\.meta\.url\)/g;

/** Modules for browsers lose their types here, and not at every start: what can do that weighs more than the gateway. */
const STRIPS = "import { stripTypeScriptTypes } from 'node:module';";

function stripTypes(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts')))
    writeFileSync(join(folder, name), stripTypeScriptTypes(readFileSync(join(folder, name), 'utf8')));
}

const beside = (path: string, name: string): string => fileURLToPath(new URL(name, pathToFileURL(path)));

/**
 * Our modules name the files that they read by `import.meta.resolve('package/file')` or `new URL('./file',
 * import.meta.url)`. Those are copied beside the bundle, and the names turned to the copies.
 */
export function filesBeside(folder: string): Plugin {
  return {
    name: 'files-beside',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const source = oneByteText(await readFile(path, 'utf8'));
        const require = createRequire(path);
        const contents = source.replace(NAMED_FILE, (_, module?: string, file?: string) =>
          module === undefined ? copied(beside(path, file!)) : `${copied(require.resolve(module))}.href`,
        );
        return {
          contents: contents.replace(STRIPS, 'const stripTypeScriptTypes = (text: string): string => text;'),
          loader: 'ts',
        };
      });
    },
  };

  function copied(path: string): string {
    // Several packages have a folder of this name.
    const name = basename(path) === 'src' ? `${basename(dirname(path))}-src` : basename(path);
    const copy = join(folder, 'files', name);
    cpSync(path, copy, { recursive: true });
    if (statSync(copy).isDirectory()) stripTypes(copy);
    const slash = path.endsWith('/') ? '/' : '';
    return `new URL('./files/${name}${slash}', import.meta.url)`;
  }
}
