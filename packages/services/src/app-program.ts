import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';

/** The apps that can be bundled. */
export type AppName = 'gateway' | 'worker' | 'simulator';

/**
 * The file to start an app with: the bundle, as it is shipped, if `npm test` has made one (it starts in a quarter of the
 * time); otherwise the sources.
 */
export function appProgram(app: AppName): string {
  const bundles = process.env.TEST_BUNDLES;
  return bundles ? join(bundles, app, 'main.js') : join(root, 'apps', app, 'src/main.ts');
}
