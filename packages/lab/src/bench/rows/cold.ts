import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { startModule } from '../../fixture/modules.ts';
import { ms, type Row } from '../bench-row.ts';
import { interleaved } from '../windows.ts';

/** From spawning to ready, against a Node that does nothing. */
export const cold: Row = {
  id: 'cold',
  about: 'cold start of a gateway until it is ready against a bare Node (N)',
  async measure(bench, plan) {
    const { module, env } = await bench.command('gateway');
    await using group = await openThrowAwayGroup('a cold start');
    const found = await interleaved(
      {
        N: async () => ({ wall: await bareNode() }),
        async gateway() {
          const begun = performance.now();
          const service = await startModule(group, 'gateway', module, env);
          const wall = performance.now() - begun;
          service.signal('SIGTERM');
          await service.exited;
          return { wall };
        },
      },
      plan,
    );
    const [n, ours] = [found.N!.wall!, found.gateway!.wall!];
    return [
      {
        quantity: 'gateway cold start',
        ours: ms(ours),
        baseline: `N ${ms(n)}`,
        value: ours / n,
        unit: ' N',
        better: 'lower',
        must: 6,
        stretch: 3,
      },
    ];
  },
};

function bareNode(): Promise<number> {
  const begun = performance.now();
  const nothing = fileURLToPath(new URL('../baselines/nothing.mjs', import.meta.url));
  // Without the compiled code that our commands keep.
  const child = spawn(process.execPath, [nothing], { env: { PATH: process.env.PATH } });
  return new Promise((resolve) => child.once('exit', () => resolve(performance.now() - begun)));
}
