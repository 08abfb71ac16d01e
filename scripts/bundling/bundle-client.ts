import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { readJson } from '@eloquentpoll/services/json';
import { runProgram } from '@eloquentpoll/services/run-program';
import { Type } from '@sinclair/typebox';
import { build, type Plugin, transform } from 'esbuild';

// Builds the npm package `eloquentpoll` as a folder: the client as JavaScript and types, and programs that import it.
// It depends on no other package.

const CLIENT = join(root, 'packages/client');
const COMPILE_MS = 60_000;
/** npm accepts a provenance statement only if the package names the repository where it was built. */
const REPOSITORY = 'https://github.com/OWNER/REPOSITORY';
const PROGRAMS = { cli: 'src/cli/main.ts', mcp: 'src/mcp/stdio-proxy.ts' };

export interface ClientPackage {
  into: string;
  /** The service that the client calls if no `baseUrl` is given. */
  baseUrl: string;
  repository?: string | undefined;
}

export async function bundleClient({ into, baseUrl, repository = REPOSITORY }: ClientPackage): Promise<void> {
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into, { recursive: true });
  await compile(into);
  await finish(join(into, 'eloquentpoll.js'), baseUrl);
  await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(Object.entries(PROGRAMS).map(([name, file]) => [name, join(CLIENT, file)])),
    outdir: into,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    minify: true,
    legalComments: 'none',
    plugins: [besideClient()],
    logLevel: 'warning',
  });
  for (const name of Object.keys(PROGRAMS)) chmodSync(join(into, `${name}.js`), 0o755);
  copyFileSync(join(root, 'LICENSE'), join(into, 'LICENSE'));
  copyFileSync(join(CLIENT, 'npm/README.md'), join(into, 'README.md'));
  writeFileSync(join(into, 'package.json'), `${JSON.stringify(manifest(baseUrl, repository), null, 2)}\n`);
}

/** Compiles `eloquentpoll.js` and `eloquentpoll.d.ts`. */
async function compile(into: string): Promise<void> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const target = ['--target', 'es2022', '--module', 'esnext', '--lib', 'es2022,dom,dom.iterable', '--types', ''];
  const output = ['--outDir', into, '--declaration', '--strict', '--ignoreConfig'];
  const args = [compiler, ...target, ...output, join(CLIENT, 'src/eloquentpoll.ts')];
  const compiled = await runProgram(process.execPath, args, { cwd: root }, COMPILE_MS);
  if (!compiled.ok) throw new Error(`the client does not compile: ${compiled.output}`);
}

/** Removes comments, which the types keep, and indentation. Names stay, for readable stack traces. */
async function finish(file: string, baseUrl: string): Promise<void> {
  const line = "export const BASE_URL = 'http://localhost:8080';";
  const source = readFileSync(file, 'utf8');
  if (!source.includes(line)) throw new Error('the client does not say its base URL in the line that is published');
  const named = source.replace(line, () => `export const BASE_URL = ${JSON.stringify(baseUrl)};`);
  const { code } = await transform(named, {
    format: 'esm',
    target: 'es2022',
    minifyWhitespace: true,
    legalComments: 'none',
  });
  writeFileSync(file, code);
}

/** The programs import the client file beside them, so that the package contains it once. */
function besideClient(): Plugin {
  return {
    name: 'beside-client',
    setup({ onResolve }) {
      onResolve({ filter: /\/eloquentpoll\.ts$/ }, () => ({ path: './eloquentpoll.js', external: true }));
    },
  };
}

const Manifest = Type.Object({ version: Type.String(), license: Type.String(), description: Type.String() });

function manifest(homepage: string, repository: string): object {
  const { version, license, description } = readJson(Manifest, readFileSync(join(root, 'package.json'), 'utf8'));
  return {
    name: 'eloquentpoll',
    version,
    description,
    license,
    homepage,
    repository: { type: 'git', url: `git+${repository}.git`, directory: 'packages/client' },
    keywords: ['llm', 'poll', 'consensus', 'classification', 'mcp'],
    type: 'module',
    engines: { node: '>=20' },
    sideEffects: false,
    exports: {
      '.': { types: './eloquentpoll.d.ts', default: './eloquentpoll.js' },
      './package.json': './package.json',
    },
    types: './eloquentpoll.d.ts',
    bin: { eloquentpoll: './cli.js', 'eloquentpoll-mcp': './mcp.js' },
    files: ['*.js', '*.d.ts'],
    publishConfig: { access: 'public', provenance: true },
  };
}
