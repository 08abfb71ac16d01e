import { STATUS_CODES } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { errorHeaders } from './headers.ts';
import { type DescribedAnswer, type OpenApiDocument, operationsIn } from './shapes.ts';

/**
 * Puts each error answer into `components.responses` once, with the codes that most operations use. Operations refer to
 * it, and list their own codes where these differ.
 */
export function shareErrorAnswers(document: OpenApiDocument): void {
  const answers = operationsIn(document).flatMap(([, , { responses }]) =>
    Object.entries(responses).flatMap(([status, answer]) =>
      status < '400' || '$ref' in answer ? [] : [{ responses, status, answer, name: nameOf(status, answer) }],
    ),
  );
  const shared: Record<string, DescribedAnswer> = {};
  for (const [name, alike] of Map.groupBy(answers, (each) => each.name)) {
    const { status, answer } = alike[0]!;
    const other = alike.find((each) => !isDeepStrictEqual(each.answer.content, answer.content));
    if (other) throw new Error(`answers of two forms would both be ${name}: ${other.answer.description}`);
    const usual = mostFrequent(alike.map((each) => each.answer.description));
    shared[name] = { ...answer, description: usual, headers: { ...answer.headers, ...errorHeaders(status) } };
    for (const { responses, status, answer } of alike) {
      const $ref = `#/components/responses/${name}`;
      responses[status] = answer.description === usual ? { $ref } : { $ref, description: answer.description };
    }
  }
  document.components.responses = shared;
}

function mostFrequent(texts: readonly string[]): string {
  const counts = [...Map.groupBy(texts, (text) => text)].map(([text, { length }]) => ({ text, length }));
  return counts.reduce((most, each) => (each.length > most.length ? each : most)).text;
}

/** The forms of error answers, recognised by their content. */
const FORMS: readonly [mark: string, name: string][] = [
  ['/ChatError"', 'Chat'],
  ['/PaymentRequired"', 'Payment'],
  ['/BatchError"', 'Batch'],
  ['/BatchCostError"', 'BatchCost'],
  ['"jsonrpc"', 'Rpc'],
  ['"text/html"', 'Page'],
];

function nameOf(status: string, { content }: DescribedAnswer): string {
  const forms = JSON.stringify(content ?? {});
  const form = FORMS.find(([mark]) => forms.includes(mark))?.[1] ?? '';
  return `${form}${(STATUS_CODES[status] ?? status).replace(/\W/g, '')}`;
}
