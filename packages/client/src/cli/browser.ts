import { spawn } from 'node:child_process';

/** Opens an address with the system's default program. False if there is none. */
export function openInBrowser(url: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const [command, ...words] = openerOf(env);
  return new Promise((done) => {
    const child = spawn(command, [...words, url], { stdio: 'ignore', detached: true });
    child.once('error', () => done(false));
    child.once('spawn', () => {
      child.unref();
      done(true);
    });
  });
}

function openerOf({ BROWSER }: NodeJS.ProcessEnv): [string, ...string[]] {
  if (BROWSER) return [BROWSER];
  if (process.platform === 'darwin') return ['open'];
  return process.platform === 'win32' ? ['rundll32', 'url.dll,FileProtocolHandler'] : ['xdg-open'];
}
