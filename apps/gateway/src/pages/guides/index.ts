import type { SiteFacts } from '../../discovery/documents/facts.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
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

const guides = (isFree: boolean): readonly Guide[] => [
  firstPoll(isFree),
  readingResults,
  manyPolls,
  ownData,
  keepAndDelete,
  receivingWebhooks,
  streaming,
  agents(isFree),
  limitsAndUsage,
  operating,
];

export const GUIDES = guides(true);
const WITHOUT_FREE_POLLS = guides(false);

export const guidesOf = (facts: SiteFacts): readonly Guide[] => (runsFreePolls(facts) ? GUIDES : WITHOUT_FREE_POLLS);
