import type { ResultDetail } from '@eloquentpoll/contracts';
import { markdownTable } from '../../http/markdown.ts';

/** A result for readers: the verdict in words, the tally and the votes. */
export const resultMarkdown = (result: ResultDetail, pageUrl: string): string => `# Poll ${result.poll_id}

${quoted(result.question ?? '')}

${result.verdict?.text ?? ''}

${markdownTable(
  ['Option', 'Votes'],
  result.options.map((option) => [oneLine(option), String(result.tally[option] ?? 0)]),
)}

${markdownTable(
  ['Model', 'Vote', 'Time'],
  result.votes.map(({ model_id, chosen_option, error, latency_ms }) => [
    model_id,
    chosen_option === null ? `none (${error ?? 'no answer'})` : oneLine(chosen_option),
    `${(latency_ms / 1_000).toFixed(1)} s`,
  ]),
)}

Asked at ${result.created_at}, panel \`${result.preset ?? 'broad'}\`. Page: ${pageUrl}
`;

/** Quotes a caller's text, so that no line of it can pass for our heading or table. */
const quoted = (text: string): string =>
  text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');

const oneLine = (text: string): string => text.replace(/\s+/g, ' ');
