import type { Facts } from './facts.ts';
import { about, sections, serviceSummary } from './llms.ts';

/** The homepage in markdown, for agents that ask for it. */
export const homeMarkdown = (facts: Facts): string => `# EloquentPoll

${serviceSummary(facts)}

${about(facts)}

${sections(facts)}

For people: ${facts.baseUrl}/?view=human
`;
