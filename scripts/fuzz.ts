import { main } from '@eloquentpoll/lab/fuzz';
import { onTestServices } from './testing/on-test-services.ts';

// `npm run fuzz`: every operation is asked hostile things, on services of its own.

await onTestServices((services) => main(process.argv.slice(2), services));
