import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ErrorCode, Issue } from '@eloquentpoll/contracts';
import * as contracts from '@eloquentpoll/contracts';
import { KindGuard, type TSchema } from '@sinclair/typebox';
import type { ErrorObject } from 'ajv';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { invalid } from '../api-error.ts';
import { describeIssue } from './describe-issue.ts';

// One validator for every entry point. Bodies are never coerced: "5" is not 5. Query strings are all text, so there a
// number may be written as one. Unknown fields are kept and not read.

const MAX_ISSUES = 20;

/** The shapes of the contract that have a name; schemas refer to them by it. */
export const namedSchemas: readonly TSchema[] = Object.values<unknown>(contracts).filter(
  (value): value is TSchema => KindGuard.IsSchema(value) && value.$id !== undefined,
);

const bodies = madeOnce(() => validatorOf({ coerceTypes: false }));
const queries = madeOnce(() => validatorOf({ coerceTypes: true, useDefaults: true }));

/** Made when it is first used: that takes longer than reading a body. */
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
    // Whole cents are no whole binary fractions.
    multipleOfPrecision: 9,
    // Schemas are validated with the OpenAPI document; here that would be a tenth of the start.
    validateSchema: false,
    schemas: [...namedSchemas],
  });
  formats.default(ajv);
  // The library takes `urn:uuid:` and leap seconds too; Postgres does not take the one, nor JavaScript the other.
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

/** `1e999` as text becomes Infinity, to which the validator applies no bound. JSON has no such number. */
const infiniteIn = (value: unknown): Issue[] =>
  Object.entries(value ?? {})
    .filter(([, member]) => member === Infinity || member === -Infinity)
    .map(([name]) => ({ pointer: `#/${name}`, detail: `${name} must be a number` }));

/** Named shapes of bodies, one in each turn of the event loop, so that no request has to wait for them. */
export async function compileAhead(shapes: readonly TSchema[]): Promise<void> {
  for (const { $id } of shapes) {
    await nextTurn();
    bodies().getSchema(String($id));
  }
}

/** For routes whose body has several forms: the document shows them, and the handler reads the body by its form. */
export function compileExceptBody(part: { schema: object; httpPart?: string | undefined }) {
  return part.httpPart === 'body' ? () => true : compile(part);
}

/** For routes whose document names headers that the handler reads as they come. */
export function anyHeaders(part: { schema: object; httpPart?: string | undefined }) {
  return part.httpPart === 'headers' ? () => true : compile(part);
}

/** Everything that is wrong with a value of a named schema; for entry points without a route schema. */
export function issuesOf(schema: TSchema, value: unknown): Issue[] {
  const check = bodies().getSchema(String(schema.$id));
  if (!check) throw new Error(`no schema is named ${schema.$id}`);
  return issuesBy(check, value);
}

function issuesBy(check: ValidateFunction, value: unknown): Issue[] {
  return check(value) === true ? [] : (check.errors ?? []).filter(isWhole).slice(0, MAX_ISSUES).map(describeIssue);
}

/** What is wrong with the name of a member is said once, of the object that has it. */
const isWhole = ({ propertyName }: ErrorObject): boolean => propertyName === undefined;

/** A wrong preset has its own code; everything else is a validation error. */
export function refusal(issues: readonly Issue[]): Error {
  const onlyPreset = issues.every((issue) => issue.pointer === '#/preset');
  const code: ErrorCode = onlyPreset ? 'invalid_preset' : 'validation_error';
  return invalid(issues, code);
}
