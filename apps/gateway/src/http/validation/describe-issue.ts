import type { Issue } from '@eloquentpoll/contracts';
import type { ErrorObject } from 'ajv';

// Describes a validator's findings with the caller's own field names: `options[1] must be ...`.

export function describeIssue(error: ErrorObject): Issue {
  const member: unknown = error.params.missingProperty ?? error.params.additionalProperty;
  const path =
    typeof member === 'string' ? `${error.instancePath}/${member.slice(0, 80).toWellFormed()}` : error.instancePath;
  return { pointer: `#${path}`, detail: `${fieldName(path)} ${problem(error)}` };
}

/** `/options/1` becomes `options[1]`; the whole body has no name. */
export function fieldName(path: string): string {
  const [first, ...rest] = path.split('/').slice(1);
  if (first === undefined) return 'the request';
  return first + rest.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`)).join('');
}

function problem({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not known here';
    case 'type':
      return `must be ${[params.type].flat().map(withArticle).join(' or ')}`;
    case 'enum':
      return `must be one of ${(params.allowedValues as unknown[]).filter((value) => value !== null).join(', ')}`;
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must be at least ${params.limit} characters`;
    case 'maxLength':
      return `must be at most ${params.limit} characters`;
    case 'maxProperties':
      return `must have at most ${params.limit} members`;
    case 'propertyNames':
      return `has the key ${JSON.stringify(String(params.propertyName).slice(0, 80))}, which is too short or too long`;
    case 'minItems':
      return `must contain at least ${params.limit} ${params.limit === 1 ? 'item' : 'items'}`;
    case 'maxItems':
      return `must contain at most ${params.limit} items`;
    case 'minimum':
      return `must be at least ${params.limit}`;
    case 'maximum':
      return `must be at most ${params.limit}`;
    case 'multipleOf':
      return `must be a multiple of ${params.multipleOf}`;
    case 'exclusiveMinimum':
      return `must be greater than ${params.limit}`;
    case 'uniqueItems': {
      const { i, j } = params as { i: number; j: number };
      return `must be unique: items ${Math.min(i, j)} and ${Math.max(i, j)} are the same`;
    }
    case 'format':
      return `must be a valid ${params.format}`;
    default:
      return message ?? 'is invalid';
  }
}

const withArticle = (type: string): string => (type === 'null' ? type : `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`);
