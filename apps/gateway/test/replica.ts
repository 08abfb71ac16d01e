import type { Test } from 'tap';
import { type App, buildApp } from '../src/app.ts';
import { type Context, openContext } from '../src/context.ts';
import { createLog } from '../src/log.ts';
import { checkAnswers } from './check-answers.ts';

/** Another gateway on the same database and Redis, with connections of its own. */
export async function replicaOf(
  t: Test,
  { config }: Context,
  given: Partial<Context> = {},
): Promise<{ app: App; context: Context }> {
  const context = await openContext(config, { log: createLog(config, { write: () => {} }), ...given });
  t.teardown(() => context[Symbol.asyncDispose]());
  const app = buildApp(context);
  t.teardown(() => app.close());
  checkAnswers(t, app);
  await app.ready();
  return { app, context };
}
