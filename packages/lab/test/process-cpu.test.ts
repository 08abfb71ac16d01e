import t from 'tap';
import { cpuUs, familyCpuUs, totalCpuUs } from '../src/fixture/process-cpu.ts';

const HAS_ENDED = 2 ** 30;

t.test('a process that runs has used CPU, and so has its family', async (t) => {
  const own = cpuUs(process.pid);
  t.ok(own > 0);
  t.ok(familyCpuUs(process.pid) >= own);
  t.ok(totalCpuUs([process.pid, process.pid]) >= 2 * own);
});

t.test('what cannot be read is no number, and neither is a sum of it: 0 would be a very good figure', async (t) => {
  t.same([cpuUs(HAS_ENDED), familyCpuUs(HAS_ENDED), totalCpuUs([process.pid, HAS_ENDED])], [NaN, NaN, NaN]);
});
