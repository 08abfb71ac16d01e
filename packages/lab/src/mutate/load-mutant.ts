// Preloaded into the process of a test run: changes one module while it is loaded, so that no file is modified.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { readJson } from '@eloquentpoll/services/json';
import { applied, Mutant } from './mutant.ts';

const { MUTANT_URL, MUTANT } = process.env;
if (MUTANT_URL && MUTANT)
  registerHooks({
    load(url, context, nextLoad) {
      if (url !== MUTANT_URL) return nextLoad(url, context);
      const source = applied(readFileSync(fileURLToPath(url), 'utf8'), readJson(Mutant, MUTANT));
      return { format: 'module-typescript', source, shortCircuit: true };
    },
  });
