import { builtinModules, createRequire } from 'node:module';
import type { Plugin } from 'esbuild';

// Imports Node's own modules without creating their namespace objects. Creating one reads every export, and the exports
// of `node:http` include WebSocket, which would load all of undici at every start.

const NAMESPACE = 'node-module';
const NAME = /^[A-Za-z_$][\w$]*$/;
const require = createRequire(import.meta.url);

export function nodeModulesByName(): Plugin {
  return {
    name: 'node-modules-by-name',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^(node:)?[a-z_/]+$/ }, ({ path, kind }) => {
        const name = path.replace(/^node:/, '');
        if (kind !== 'import-statement' || !(path.startsWith('node:') || builtinModules.includes(name))) return null;
        return { path: `node:${name}`, namespace: NAMESPACE, sideEffects: false };
      });
      onLoad({ filter: /^/, namespace: NAMESPACE }, ({ path }) => ({ contents: namedExports(path), loader: 'js' }));
    },
  };
}

/** Each export is read only where it is imported. Getters that only repeat a global are left out. */
function namedExports(path: string): string {
  const exported = Object.entries(Object.getOwnPropertyDescriptors(require(path) as object));
  const names = exported.flatMap(([name, { get, enumerable }]) =>
    enumerable && NAME.test(name) && !(get && name in globalThis) ? name : [],
  );
  return [
    `const all = process.getBuiltinModule(${JSON.stringify(path)});`,
    'export default all;',
    ...names.map(
      (name) => `const its_${name} = /* @__PURE__ */ (() => all.${name})(); export { its_${name} as ${name} };`,
    ),
  ].join('\n');
}
