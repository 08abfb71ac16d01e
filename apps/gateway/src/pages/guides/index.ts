import { agents } from './agents.ts';
import { firstPoll } from './first-poll.ts';
import type { Guide } from './guide.ts';
import { keepAndDelete } from './keep-and-delete.ts';
import { limitsAndUsage } from './limits-and-usage.ts';
import { manyPolls } from './many-polls.ts';
import { operating } from './operating.ts';
import { ownData } from './own-data.ts';
import { readingResults } from './reading-results.ts';
import { streaming } from './streaming.ts';
import { receivingWebhooks } from './webhooks.ts';

export const GUIDES: readonly Guide[] = [
  firstPoll,
  readingResults,
  manyPolls,
  ownData,
  keepAndDelete,
  receivingWebhooks,
  streaming,
  agents,
  limitsAndUsage,
  operating,
];
