import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// Vendors change prices and retire models. Each ready roster has the date when its prices were read, which must be
// recent.

const FOLDER = 'packages/models/rosters';
const MAX_AGE_DAYS = 365;
const DAY_MS = 86_400_000;
/** Its models do not exist, so its prices are invented. */
const INVENTED = 'simulator.json';

interface Roster {
  prices_read?: string;
  models: { price: { input: string; output: string } }[];
}

export const stalePrices = (root: string, now: number): string[] =>
  globSync('*.json', { cwd: join(root, FOLDER) })
    .sort()
    .filter((file) => file !== INVENTED)
    .flatMap((file) => {
      const { prices_read, models } = JSON.parse(readFileSync(join(root, FOLDER, file), 'utf8')) as Roster;
      if (models.every(({ price }) => Number(price.input) === 0 && Number(price.output) === 0)) return [];
      const days = Math.floor((now - Date.parse(prices_read ?? '')) / DAY_MS);
      const wayOut = 'compare them with the vendor, and write the day into "prices_read"';
      if (Number.isNaN(days)) return [`${FOLDER}/${file} does not say when its prices were read: ${wayOut}`];
      return days > MAX_AGE_DAYS ? [`${FOLDER}/${file}: its prices were read ${days} days ago: ${wayOut}`] : [];
    });
