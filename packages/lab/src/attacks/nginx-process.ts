import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chmodSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { comesTrue } from './field.ts';

// The nginx of this machine with the configuration of infra/nginx, where only the addresses are other ones.

const CONFIGURATION = new URL('../../../../infra/nginx/eloquentpoll.conf', import.meta.url);

/** Null where there is none: it is the one program here that nothing brings along. */
export function findNginx(): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  const runs = (file: string): boolean => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  };
  return folders.map((folder) => join(folder, 'nginx')).find(runs) ?? null;
}

export interface Nginx extends AsyncDisposable {
  readonly port: number;
  /** One line per request as nginx understood it: its id, its first line, the status it answered. */
  requests(): string[];
}

export async function startNginx(file: string, gatewayPort: number): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'eloquentpoll-nginx-'));
  chmodSync(folder, 0o755);
  const port = await freePort();
  const log = join(folder, 'requests.log');
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, log, port, gatewayPort));
  const child = spawn(file, ['-p', folder, '-c', 'nginx.conf', '-e', join(folder, 'errors.log')], { stdio: 'ignore' });
  const ready = await comesTrue(() => child.exitCode !== null || answers(port), 10_000);
  if (!ready || child.exitCode !== null)
    throw new Error(`nginx did not start: ${readFileSync(join(folder, 'errors.log'), 'utf8')}`);
  return {
    port,
    requests: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
    async [Symbol.asyncDispose]() {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function configuration(folder: string, log: string, port: number, gatewayPort: number): string {
  const product = readFileSync(CONFIGURATION, 'utf8')
    .replace('server 127.0.0.1:8080;', `server 127.0.0.1:${gatewayPort};`)
    .replace('listen 8081;', `listen 127.0.0.1:${port};`)
    // A poll keeps the id of its request: one that nginx has not seen has an id that is not nginx'.
    .replace('proxy_set_header Host $host;', '$&\n    proxy_set_header X-Request-Id ngx-$request_id;');
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  return `daemon off;
pid ${folder}/pid;
worker_processes 1;
events { worker_connections 2048; }
http {
  log_format requests 'ngx-$request_id $status $request';
  access_log ${log} requests;
  ${places.join('\n  ')}
  ${product}
}
`;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await gone;
  clearTimeout(timer);
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const connected = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return connected;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address ? address.port : 0;
}
