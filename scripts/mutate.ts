import { main } from '@eloquentpoll/lab/mutate';
import { onTestServices } from './testing/on-test-services.ts';
import { makeTemplate, TEMPLATE } from './testing/test-services.ts';

// `npm run mutate`: the tests are tested, on services of their own.

await onTestServices((services) =>
  main(process.argv.slice(2), async () => {
    const { databaseUrl, redisUrl } = await services();
    await makeTemplate(databaseUrl);
    return { databaseUrl, redisUrl, template: TEMPLATE };
  }),
);
