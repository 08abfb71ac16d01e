import type { FastifySchema } from 'fastify';
import { answersOf } from '../../http/hooks/declared-answers.ts';

// Keeps one JSON type per successful answer, because generated clients cannot use two. A stream that an operation
// offers besides JSON is left out, and so is its end (204), for which the data would have a second type; AsyncAPI
// describes streams.

const STREAM = 'text/event-stream';

interface Answer {
  content?: Record<string, object>;
  /** The schema shown in the document, when the answer also has other forms. */
  documented?: object;
}

export function withOneAnswer(schema: FastifySchema): FastifySchema {
  const all = Object.entries<Answer>(answersOf(schema));
  const hasJson = all.some(([status, { content }]) => status < '300' && content?.['application/json']);
  const response = all.filter(([status]) => !(hasJson && status === '204'));
  return { ...schema, response: Object.fromEntries(response.map(([status, answer]) => [status, oneForm(answer)])) };
}

function oneForm({ documented, ...answer }: Answer): Answer {
  const { 'application/json': json, ...others } = answer.content ?? {};
  if (!json) return answer;
  const { [STREAM]: _stream, ...rest } = others;
  return { ...answer, content: { 'application/json': documented ? { schema: documented } : json, ...rest } };
}
