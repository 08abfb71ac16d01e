import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ErrorCode, Issue } from '@eloquentpoll/contracts';
import * as contracts from '@eloquentpoll/contracts';
import { KindGuard, type TSchema } from '@sinclair/typebox';
import type { ErrorObject } from 'ajv';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { invalid } from '../api-error.ts';
import { describeIssue } from './describe-issue.ts';

// One validator for all entry points. Bodies are never coerced: "5" is not 5. Query strings contain only text, so a
// number may be written as text there. Unknown fields are kept but not read.

const MAX_ISSUES = 20;

/** The named shapes of the contract; schemas refer to them by name. */
export const namedSchemas: readonly TSchema[] = Object.values<unknown>(contracts).filter(
  (value): value is TSchema => KindGuard.IsSchema(value) && value.$id !== undefined,
);

const bodies = madeOnce(() => validatorOf({ coerceTypes: false }));
const queries = madeOnce(() => validatorOf({ coerceTypes: true, useDefaults: true }));

/** Created at first use, because that takes longer than reading a body. */
function madeOnce(make: () => Ajv2020): () => Ajv2020 {
  let made: Ajv2020 | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function validatorOf(options: { coerceTypes: boolean; useDefaults?: boolean }): Ajv2020 {
  const ajv = new Ajv2020({
    ...options,
    allErrors: true,
    allowUnionTypes: true,
    removeAdditional: false,
    // Cents are not exact in binary fractions.
    multipleOfPrecision: 9,
    // Schemas are validated with the OpenAPI document; doing it here would add a tenth to the startup time.
    validateSchema: false,
    schemas: [...namedSchemas],
  });
  formats.default(ajv);
  // The library also accepts `urn:uuid:` and leap seconds; Postgres rejects the former, JavaScript the latter.
  ajv.addFormat('uuid', /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i);
  ajv.addFormat('date-time', (text) => isOfLibrary('date-time', text) && !Number.isNaN(Date.parse(text)));
  // Postgres has no year 0.
  ajv.addFormat('date', (text) => isOfLibrary('date', text) && !text.startsWith('0000'));
  return ajv;
}

const isOfLibrary = (format: 'date' | 'date-time', text: string): boolean =>
  (formats.default.get(format) as { validate(text: string): boolean }).validate(text);

/** For Fastify: the validator of one part of a route, compiled at the first request. */
export function compile({ schema, httpPart }: { schema: object; httpPart?: string | undefined }) {
  let check: ValidateFunction | undefined;
  return (value: unknown) => {
    check ??= (httpPart === 'body' ? bodies() : queries()).compile(schema);
    const issues = [...issuesBy(check, value), ...infiniteIn(value)];
    return issues.length === 0 ? { value } : { error: refusal(issues) };
  };
}

/** `1e999` as text becomes Infinity, which the validator lets pass any bound. JSON has no such number. */
const infiniteIn = (value: unknown): Issue[] =>
  Object.entries(value ?? {})
    .filter(([, member]) => member === Infinity || member === -Infinity)
    .map(([name]) => ({ pointer: `#/${name}`, detail: `${name} must be a number` }));

/** Compiles named body shapes in advance, one per turn of the event loop, so that no request waits for it. */
export async function compileAhead(shapes: readonly TSchema[]): Promise<void> {
  for (const { $id } of shapes) {
    await nextTurn();
    bodies().getSchema(String($id));
  }
}

/** For routes whose body has several forms: the document shows them, and the handler checks the body itself. */
export function compileExceptBody(part: { schema: object; httpPart?: string | undefined }) {
  return part.httpPart === 'body' ? () => true : compile(part);
}

/** For routes whose document names headers that the handler reads unvalidated. */
export function anyHeaders(part: { schema: object; httpPart?: string | undefined }) {
  return part.httpPart === 'headers' ? () => true : compile(part);
}

/** All faults of a value against a named schema; for entry points without a route schema. */
export function issuesOf(schema: TSchema, value: unknown): Issue[] {
  const check = bodies().getSchema(String(schema.$id));
  if (!check) throw new Error(`no schema is named ${schema.$id}`);
  return issuesBy(check, value);
}

function issuesBy(check: ValidateFunction, value: unknown): Issue[] {
  return check(value) === true ? [] : (check.errors ?? []).filter(isWhole).slice(0, MAX_ISSUES).map(describeIssue);
}

/** A fault in a member's name is reported once, for the object that has the member. */
const isWhole = ({ propertyName }: ErrorObject): boolean => propertyName === undefined;

/** A wrong preset has its own code; all other faults are validation errors. */
export function refusal(issues: readonly Issue[]): Error {
  const onlyPreset = issues.every((issue) => issue.pointer === '#/preset');
  const code: ErrorCode = onlyPreset ? 'invalid_preset' : 'validation_error';
  return invalid(issues, code);
}
