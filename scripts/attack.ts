import { main } from '@eloquentpoll/lab/attack';
import { onTestServices } from './testing/on-test-services.ts';

// `npm run attack`: slow, deaf and idle clients against a gateway of its own, on services of its own.

await onTestServices((services) => main(process.argv.slice(2), services));
