import type { FastifySchema } from 'fastify';
import { answersOf } from '../../http/hooks/declared-answers.ts';

// One JSON type for the success of an operation: clients that are generated from two have neither. A stream in place of
// JSON is described where it is the only answer, and in AsyncAPI.

const STREAM = 'text/event-stream';

interface Answer {
  content?: Record<string, object>;
  /** What the document shows of an answer that has other forms too. */
  documented?: object;
}

export function withOneAnswer(schema: FastifySchema): FastifySchema {
  const response = Object.entries<Answer>(answersOf(schema));
  return { ...schema, response: Object.fromEntries(response.map(([status, answer]) => [status, oneForm(answer)])) };
}

function oneForm({ documented, ...answer }: Answer): Answer {
  const { 'application/json': json, ...others } = answer.content ?? {};
  if (!json) return answer;
  const { [STREAM]: _stream, ...rest } = others;
  return { ...answer, content: { 'application/json': documented ? { schema: documented } : json, ...rest } };
}
