import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, report } from '@eloquentpoll/launch/failure';
import { dataFolder, requireSpace, requireWritable, root } from '@eloquentpoll/launch/folders';
import { tryLock } from '@eloquentpoll/launch/lock';
import { createSteps } from '@eloquentpoll/launch/steps';
import { portIsFree } from '@eloquentpoll/services/free-port';
import { ProcessGroup } from '@eloquentpoll/services/process-group';
import { runProgram } from '@eloquentpoll/services/run-program';
import { stopRequest } from '@eloquentpoll/services/stop-request';
import { announcement, readyLine } from './start/announce.ts';
import { planModels } from './start/models.ts';
import { type Product, type ProductOptions, startProduct } from './start/product.ts';
import { readStartSettings, type StartSettings } from './start/settings.ts';

// `npm start`: runs the whole product in one terminal until Ctrl-C, and always stops everything that it started. It
// exits with 0 if it was asked to end, and with 1 and one sentence if something failed.

export interface StartOptions extends Pick<ProductOptions, 'cluster' | 'pooler' | 'replica' | 'scripts' | 'startApp'> {
  env: NodeJS.ProcessEnv;
  folder: string;
  json: boolean;
  whenReady?: (product: Product, show: (line: string) => void) => Promise<void>;
}

export async function start({ env, folder, json, whenReady, ...apps }: StartOptions): Promise<number> {
  const steps = createSteps(json ? process.stderr : process.stdout);
  const stop = stopRequest();
  const stopping = new AbortController();
  void stop.requested.then(() => stopping.abort());
  const began = performance.now();
  try {
    const settings = readStartSettings(env);
    const models = planModels(settings, env);
    requireWritable(folder);
    requireSpace(folder, existsSync(join(folder, 'postgres')) ? 32 : 150, 'a start');
    const lock = tryLock(join(folder, 'start.lock'));
    if (!lock.held)
      throw new Failure(
        `EloquentPoll runs here already, as process ${lock.owner.pid}: stop that one first, or use a second clone.`,
      );
    await requireFreePort(settings);
    await using group = await ProcessGroup.open(folder);
    try {
      const gitCommit = await commitOf(root);
      const starting = startProduct({
        settings,
        models,
        group,
        steps,
        env,
        gitCommit,
        stopping: stopping.signal,
        ...apps,
      });
      starting.catch(() => {});
      const product = await Promise.race([starting, stop.requested]);
      if (product === 'stop') return await end(group, steps, stop);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      if (json) console.log(readyLine(product));
      else steps.line(announcement(product, seconds, models));
      void whenReady?.(product, steps.line);
      const crash = product.processes.map(async (one) => ({
        name: one.name,
        reason: await one.ended,
        lines: one.lastLines,
      }));
      const first = await Promise.race([stop.requested, ...crash]);
      if (first === 'stop') return await end(group, steps, stop);
      throw new Failure(
        `The ${first.name} ${first.reason}; everything else is being ended. Its log is .data/logs/${first.name}.log.`,
        first.lines.slice(-10),
      );
    } finally {
      stopping.abort();
      await group.stop();
      lock.release();
    }
  } catch (error) {
    report(error);
    return 1;
  }
}

async function end(group: ProcessGroup, steps: ReturnType<typeof createSteps>, stop: ReturnType<typeof stopRequest>) {
  const step = steps.begin('stopping', 'running polls end first');
  stop.onAgain(() => void group.stop());
  const killed = await group.stop();
  if (killed.length > 0) step.failed(`had to kill: ${killed.join(', ')}`);
  else step.done('everything ended in order');
  return 0;
}

async function requireFreePort({ host, port }: StartSettings): Promise<void> {
  if (port === 0) return;
  const free = await portIsFree(port, host).catch((error: NodeJS.ErrnoException) => {
    throw new Failure(`PORT ${port} on ${host} cannot be used (${error.code}): choose another PORT or HOST.`);
  });
  if (!free)
    throw new Failure(
      `PORT ${port} is in use by another program: end it, or choose another, as in PORT=8081 npm start.`,
    );
}

async function commitOf(folder: string): Promise<string | null> {
  const { ok, output } = await runProgram('git', ['rev-parse', 'HEAD'], { cwd: folder }, 2_000);
  return ok && /^[0-9a-f]{40}$/.test(output.trim()) ? output.trim() : null;
}

if (import.meta.main) {
  const json = process.env.npm_config_json === 'true' || process.argv.includes('--json');
  const asked = (option: string) => process.argv.includes(option);
  const servers = { cluster: asked('--cluster'), pooler: asked('--pooler'), replica: asked('--replica') };
  process.exit(await start({ env: process.env, folder: dataFolder, json, ...servers }));
}
