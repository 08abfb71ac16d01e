import fc from 'fast-check';
import { seed } from './seed.ts';

// fast-check with the seed of the run, for all tests. A failed property prints the seed.

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

export default fc;
