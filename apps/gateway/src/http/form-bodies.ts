import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError, invalid } from './api-error.ts';
import { uncleanIn } from './validation/text-rules.ts';

/** The fields of a form, each with its values in order. */
export type FormBody = ReadonlyMap<string, readonly string[]>;

/** For a Fastify scope whose routes take only forms. */
export function takeForms(app: FastifyInstance): void {
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, bytes: Buffer) => readForm(bytes),
  );
}

function readForm(bytes: Buffer): FormBody {
  const text = bytes.toString('latin1');
  if (!/^[\x21-\x7e]*$/.test(text)) throw new ApiError('validation_error', { detail: 'The form is not URL-encoded.' });
  const form = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const issue = uncleanIn(value);
    if (issue) throw invalid([issue]);
    const values = form.get(name);
    if (values) values.push(value);
    else form.set(name, [value]);
  }
  return form;
}

/** Converts line breaks: forms send them as CRLF. */
export const valuesOf = (form: FormBody | undefined, name: string): string[] =>
  (form?.get(name) ?? []).map((value) => value.replaceAll('\r\n', '\n'));

/** Whether the text looks like an id that a page put into a form to identify it. */
export const isFormId = (id: string): boolean => /^[\w-]{20,64}$/.test(id);

export const formIdOf = (form: FormBody | undefined): string | undefined => valuesOf(form, 'form').find(isFormId);
