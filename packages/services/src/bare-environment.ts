/**
 * What a Node program needs besides its own settings: the place of other programs, and the folder of compiled code,
 * without which each process compiles again all sources that it loads (a third of its start). A bundle has its own.
 */
export function bareEnvironment(program?: string): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  if (NODE_COMPILE_CACHE === undefined || program?.endsWith('.js')) return { PATH };
  return { PATH, NODE_COMPILE_CACHE };
}
