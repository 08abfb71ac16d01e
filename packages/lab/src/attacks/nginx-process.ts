import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@eloquentpoll/services/free-port';
import { findNginx } from '@eloquentpoll/services/nginx-program';
import { comesTrue } from './attack-target.ts';

// A real nginx with a configuration file of infra, in which the caller replaces addresses and other details.

const INFRA = new URL('../../../../infra/', import.meta.url);

export interface Nginx extends AsyncDisposable {
  readonly port: number;
  /** Reloads the configuration and its maps; requests in progress still use the old ones. */
  reload(): void;
  /** One line per request as nginx parsed it: id, status of the answer, request line. */
  requests(): string[];
}

/** `configure` returns the content of `http { }`, which has to listen on the given port. */
export async function startNginx(configure: (port: number) => string): Promise<Nginx> {
  const { file, args, env } = await findNginx(process.env);
  const folder = mkdtempSync(join(tmpdir(), 'eloquentpoll-nginx-'));
  chmodSync(folder, 0o755);
  const port = await freePort();
  const log = join(folder, 'requests.log');
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, log, configure(port)));
  const child = spawn(file, [...args, '-p', folder, '-c', 'nginx.conf', '-e', join(folder, 'errors.log')], {
    stdio: 'ignore',
    env: { LC_ALL: 'C', ...env },
  });
  const ready = await comesTrue(() => child.exitCode !== null || answers(port), 10_000);
  if (!ready || child.exitCode !== null)
    throw new Error(`nginx did not start: ${readFileSync(join(folder, 'errors.log'), 'utf8')}`);
  return {
    port,
    reload: () => void child.kill('SIGHUP'),
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

/** A file of infra in which the first occurrence of each `from` is replaced by its `to`. Throws if there is none. */
export function infraFile(name: string, changes: readonly (readonly [string, string])[]): string {
  let text = readFileSync(new URL(name, INFRA), 'utf8');
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`${name} has no ${from}`);
    text = text.replace(from, () => to);
  }
  return text;
}

function configuration(folder: string, log: string, product: string): string {
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
