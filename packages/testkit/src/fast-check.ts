import fc from 'fast-check';
import { seed } from './seed.ts';

// fast-check as every test has it: with the seed of the run. A failed property prints it.

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

export default fc;
