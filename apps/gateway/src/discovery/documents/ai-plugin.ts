import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import type { Facts } from './facts.ts';

/** The manifest for plugin hosts (OpenAI's plugin format, version 1, which few hosts still read). */
export const aiPlugin = (facts: Facts): Record<string, unknown> => ({
  schema_version: 'v1',
  name_for_human: 'EloquentPoll',
  name_for_model: 'eloquentpoll',
  description_for_human: 'Several AI models vote on your multiple-choice question.',
  description_for_model: `Asks several independent AI models one question with 2 to 10 options and returns the option that most of them choose. Use it to check an answer that you cannot look up, run or compute. ${runsFreePolls(facts) ? 'POST /api/quick-poll is free and needs no key; POST /api/poll needs one and' : 'POST /api/quick-poll and POST /api/poll need a key; the latter'} also returns a confidence: the probability that the whole panel would elect the same winner, which is not the probability that the winner is true. Never put secrets or personal data into a question: anyone who holds the result id can read it.`,
  auth: { type: 'user_http', authorization_type: 'bearer' },
  api: { type: 'openapi', url: `${facts.baseUrl}/api/openapi.json` },
  logo_url: `${facts.baseUrl}/logo.svg`,
  contact_email: facts.config.contactEmail,
  legal_info_url: `${facts.baseUrl}/?view=human#terms`,
});
