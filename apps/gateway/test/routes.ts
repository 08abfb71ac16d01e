import { buildApp } from '../src/app.ts';
import type { Context } from '../src/context.ts';

export interface Route {
  method: string;
  /** As OpenAPI writes it. */
  path: string;
  hidden: boolean;
}

/** What the router of a gateway with this context knows; HEAD, which every GET has, left out. */
export async function routesOf(context: Context): Promise<Route[]> {
  const app = buildApp(context);
  const routes: Route[] = [];
  app.addHook('onRoute', ({ method, url, schema }) => {
    for (const name of [method].flat())
      if (name !== 'HEAD')
        routes.push({ method: name, path: url.replace(/:(\w+)/g, '{$1}'), hidden: schema?.hide === true });
  });
  await app.ready();
  await app.close();
  return routes;
}
