import { readdirSync } from 'node:fs';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Preloaded into a process of the product: on SIGUSR2 it collects garbage and logs what is left. It is plain
// JavaScript, because stripping types would add 4 MB to the measured heap.

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

/** The heap spaces where V8 keeps compiled code. */
const OF_CODE = /^(code|trusted)_/;

process.on('SIGUSR2', () => {
  // Twice, because the first collection may release what held more objects.
  collect();
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  const code = getHeapSpaceStatistics()
    .filter(({ space_name: name }) => OF_CODE.test(name))
    .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
  const files = readdirSync('/proc/self/fd').length;
  const sizes = { heap_bytes: heapUsed - code, code_bytes: code, external_bytes: external, rss_bytes: rss, files };
  process.stdout.write(`${JSON.stringify({ msg: 'memory.collected', ...sizes })}\n`);
});
