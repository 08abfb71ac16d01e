import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Preloaded into a process of the product: on SIGUSR2 it collects its garbage and says what is left, as a line of its log.

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

process.on('SIGUSR2', () => {
  // What the first collection frees may have held more.
  collect();
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  const files = readdirSync('/proc/self/fd').length;
  const sizes = { heap_bytes: heapUsed, external_bytes: external, rss_bytes: rss, files };
  process.stdout.write(`${JSON.stringify({ msg: 'memory.collected', ...sizes })}\n`);
});
