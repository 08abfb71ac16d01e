import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { infraFile, type Nginx, startNginx } from '../fixture/nginx-process.ts';

// infra/cells/router.conf in front of two cells of this machine, with maps of their own.

export interface Router extends Nginx {
  /** Lines of `npm run cells -- map`: accounts and results that are not in the cell that their ids name. */
  setMaps(maps: RouterMaps): void;
}

export interface RouterMaps {
  accounts: string;
  results: string;
}

export interface RouterOptions {
  /** For the files of its maps. */
  folder: string;
  /** Of the gateways of cells 0 and 1. */
  ports: readonly [number, number];
}

export async function startRouter({ folder, ports }: RouterOptions): Promise<Router> {
  const write = ({ accounts, results }: RouterMaps): void => {
    writeFileSync(join(folder, 'accounts.map'), accounts);
    writeFileSync(join(folder, 'results.map'), results);
  };
  write({ accounts: '', results: '' });
  const started = await startNginx((port) =>
    infraFile('cells/router.conf', [
      ['server 127.0.0.1:8080;', `server 127.0.0.1:${ports[0]};`],
      ['server 127.0.0.1:8090;', `server 127.0.0.1:${ports[1]};`],
      ['/etc/nginx/eloquentpoll-cells/accounts.map', join(folder, 'accounts.map')],
      ['/etc/nginx/eloquentpoll-cells/results.map', join(folder, 'results.map')],
      ['listen 8081;', `listen 127.0.0.1:${port};`],
    ]),
  );
  return {
    ...started,
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
    setMaps(maps) {
      write(maps);
      started.reload();
    },
  };
}
