import { info, type Row, us } from '../bench-row.ts';
import { openQueueServers } from '../queue-shards.ts';
import { interleaved, sized } from '../windows.ts';

const SHARDS = [1, 4, 16] as const;
const JOBS = 1_000;

/** The load of the queue on Redis, and how evenly masters share it. Measured as CPU, as all run on one machine. */
export const shards: Row = {
  id: 'shards',
  about: 'CPU of a job in the queue, and of the fullest master, with 1, 4 and 16 shards on 1 and 3 masters',
  async measure(_bench, plan) {
    await using one = await openQueueServers(1);
    await using three = await openQueueServers(3);
    const jobs = sized(plan, JOBS);
    const cases = [one, three].flatMap((servers) =>
      SHARDS.map((n) => ({ name: `${n} on ${servers.masters}`, servers, n })),
    );
    const contenders = cases.map(({ name, servers, n }) => {
      const measure = async () => {
        const { nodeUs, masterUs } = await servers.costs(n, jobs);
        const all = masterUs.reduce((sum, each) => sum + each, 0);
        return { node: nodeUs, redis: all, fullest: Math.max(...masterUs) };
      };
      return [name, measure] as const;
    });
    const found = await interleaved(Object.fromEntries(contenders), plan);
    return cases.map(({ name, servers, n }) => {
      const { node, redis, fullest } = found[name]!;
      const each = `a job: ${us(redis!)} of Redis, ${us(node!)} of Node`;
      const share = `the fullest of ${servers.masters} has ${((100 * fullest!) / redis!).toFixed(0)} %`;
      return info(`queue, ${n} shards, ${servers.masters} masters`, each, share);
    });
  },
};
