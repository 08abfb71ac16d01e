import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '@eloquentpoll/launch/failure';
import { freePort } from '@eloquentpoll/services/free-port';
import type { RunningApp } from '@eloquentpoll/services/start-app';
import { type AppStarter, startProductApp } from '../start/apps.ts';
import type { Sources } from './watch-sources.ts';

// Starts a program of the product, and restarts it whenever a source file changes that it depends on. If it fails to
// start or ends, the next change starts it again. Its ports stay the same.

/** For work in progress when a file changes; the product's own limits are longer. */
const DRAIN_MS = 500;
const MAX_LINES = 12;
const KILL_AFTER_MS = 2_000;

/** Debugger ports of the processes. */
export const INSPECT_PORTS: Readonly<Record<string, number>> = { gateway: 9229, worker: 9230 };

export const restartingApps =
  (sources: Sources): AppStarter =>
  async (group, spec, { show, stopping }) => {
    const env = await developmentEnv(spec.name, spec.env);
    const first = Promise.withResolvers<RunningApp>();
    const say = (text: string) => show(`  ↻ ${spec.name.padEnd(12)} ${text}`);
    void keepRunning().catch(first.reject);
    // If it ends, the product keeps running: the next change starts it again.
    return { ...(await first.promise), ended: new Promise(() => {}) };

    async function keepRunning(): Promise<void> {
      let isRestart = false;
      while (!stopping.aborted) {
        const changed = sources.nextChange(spec.script);
        const began = performance.now();
        let isEnding = false;
        const showWhileServing = (line: string) => void (isEnding || show(line));
        const running = await startProductApp(group, { ...spec, env }, { show: showWhileServing, stopping }).catch(
          (error: unknown) => {
            if (!stopping.aborted) say(`${failureText(error)}\n    waiting for a change`);
            return null;
          },
        );
        if (running && isRestart) say(`restarted in ${Math.round(performance.now() - began)} ms`);
        if (running) first.resolve(running);
        const file = await Promise.race([changed, running ? endOf(running) : changed]);
        if (stopping.aborted) return;
        if (file === null) say(`${await running?.ended}; waiting for a change`);
        say(`${await changed} changed`);
        isEnding = true;
        if (running) await stop(running);
        isRestart = true;
      }
    }
  };

const endOf = (running: RunningApp): Promise<null> => running.ended.then(() => null);

async function stop(running: RunningApp): Promise<void> {
  if (running.hasEnded) return;
  running.signal('SIGTERM');
  const kill = new AbortController();
  const late = delay(KILL_AFTER_MS, 'late', { signal: kill.signal }).catch(() => 'ended');
  if ((await Promise.race([running.ended, late])) === 'late') running.signal('SIGKILL');
  kill.abort();
  await running.ended;
}

async function developmentEnv(name: string, env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const inspect = INSPECT_PORTS[name] && `--inspect=127.0.0.1:${INSPECT_PORTS[name]}`;
  const fixedPort = async (port: string | undefined) => (port === '0' ? `${await freePort('127.0.0.1')}` : port);
  return {
    ...env,
    PORT: await fixedPort(env.PORT),
    OPS_PORT: await fixedPort(env.OPS_PORT),
    DRAIN_MS: `${DRAIN_MS}`,
    WORKER_DRAIN_MS: `${DRAIN_MS}`,
    NODE_OPTIONS: [env.NODE_OPTIONS, inspect].filter(Boolean).join(' '),
  };
}

function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const output: string[] = error instanceof Failure ? error.output : [];
  const lines = output.filter((line) => line.trim() && !/^\s+at |^Node\.js v/.test(line));
  return [error.message, ...lines.slice(-MAX_LINES)].join('\n    ');
}
