import { parseSync } from 'oxc-parser';
import type { Mutant } from './mutant.ts';
import { sqlMutants } from './sql-mutants.ts';

// Mutants of a TypeScript module, by the usual operators of mutation testing: comparisons, arithmetic, logic,
// conditions, literals, calls, empty bodies. Types and the texts of errors are not changed, as nothing depends on them.

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '**': ['*'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
  '+=': ['-='],
  '-=': ['+='],
  '*=': ['/='],
  '??=': ['&&='],
  '||=': ['&&='],
};

const METHODS: Readonly<Record<string, string>> = {
  every: 'some',
  some: 'every',
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  padStart: 'padEnd',
  padEnd: 'padStart',
  find: 'findLast',
  findLast: 'find',
};

/** Calls that may be left out: `list.filter(…)` becomes `list`. */
const REMOVABLE = new Set(['filter', 'slice', 'toSorted', 'sort', 'reverse', 'trim', 'toLowerCase', 'toUpperCase']);
const UNTOUCHED = new Set(['ImportDeclaration', 'ExportAllDeclaration']);
const TRANSPARENT = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']);
const MEMBERS_LEFT_ALONE = new Set([
  'typeAnnotation',
  'typeArguments',
  'typeParameters',
  'returnType',
  'superTypeArguments',
]);
/** Properties whose values are texts for people; these values are not changed. */
const PROSE = new Set(['detail', 'description', 'message', 'name']);
const ERROR = /(Error|Busy|Refused|Unavailable|Failure)$/;

export function scriptMutants(fileName: string, source: string): Mutant[] {
  const { program, errors } = parseSync(fileName, source);
  if (errors.length > 0) throw new Error(`${fileName}: ${errors[0]?.message}`);
  const mutants: Mutant[] = [];
  const text = ({ start, end }: Node) => source.slice(start, end);
  const replace = ({ start, end }: { start: number; end: number }, ...instead: string[]) => {
    for (const each of instead) mutants.push({ start, end, text: each });
  };

  function operator(left: Node, right: Node, sign: string): void {
    const start = source.indexOf(sign, left.end);
    if (start < 0 || start >= right.start) return;
    // In coverage, `??`, `&&` and `||` belong to their right side, which may never run although the operator does.
    for (const text of OPERATORS[sign] ?? [])
      mutants.push({ start, end: start + sign.length, text, reachedAt: left.start });
  }

  function mutate(node: Node): void {
    switch (node.type) {
      case 'BinaryExpression':
      case 'LogicalExpression':
      case 'AssignmentExpression':
        if (isNode(node.left) && isNode(node.right)) operator(node.left, node.right, String(node.operator));
        break;
      case 'UnaryExpression':
        if (isNode(node.argument) && (node.operator === '!' || node.operator === '-'))
          replace({ start: node.start, end: node.argument.start }, '');
        break;
      case 'UpdateExpression':
        replace(
          node,
          text(node).replace(/\+\+|--/, (sign) => (sign === '++' ? '--' : '++')),
        );
        break;
      case 'IfStatement':
      case 'ConditionalExpression':
        if (isNode(node.test)) replace(node.test, 'true', 'false');
        break;
      case 'WhileStatement':
      case 'ForStatement':
        if (isNode(node.test)) replace(node.test, 'false');
        break;
      case 'Literal':
        literal(node);
        break;
      case 'TemplateLiteral':
        replace(node, '``');
        break;
      case 'ArrayExpression':
        if (Array.isArray(node.elements) && node.elements.length > 0) replace(node, '[]');
        break;
      case 'ArrowFunctionExpression':
        if (isNode(node.body) && node.body.type !== 'BlockStatement') replace(node.body, 'undefined');
        break;
      case 'BlockStatement':
        if (Array.isArray(node.body) && node.body.length > 0) replace(node, '{}');
        break;
      case 'CallExpression':
        call(node);
        break;
      case 'MemberExpression':
        if (node.optional === true && isNode(node.object)) {
          const start = source.indexOf('?.', node.object.end);
          replace({ start, end: start + 2 }, node.computed === true ? '' : '.');
        }
        break;
      default:
    }
  }

  function literal(node: Node): void {
    if (typeof node.value === 'boolean') replace(node, String(!node.value));
    else if (typeof node.value === 'string') replace(node, node.value === '' ? "'other'" : "''");
    else if (typeof node.bigint === 'string') replace(node, `${BigInt(node.bigint) + 1n}n`);
    else if (typeof node.value === 'number') replace(node, String(node.value + 1));
  }

  function call(node: Node): void {
    const { callee } = node;
    if (!isNode(callee) || callee.type !== 'MemberExpression' || !isNode(callee.property) || !isNode(callee.object))
      return;
    const name = text(callee.property);
    // METHODS, like every object, also inherits members such as `toString`.
    const other = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
    if (other) replace(callee.property, other);
    if (REMOVABLE.has(name)) replace({ start: callee.object.end, end: node.end }, '');
  }

  function walk(node: Node): void {
    if (UNTOUCHED.has(node.type)) return;
    if (node.type.startsWith('TS') && !TRANSPARENT.has(node.type)) return;
    if (node.type === 'TaggedTemplateExpression' && isNode(node.quasi)) {
      mutants.push(...sqlMutants(source, node.quasi.start + 1, node.quasi.end - 1));
      return;
    }
    if (node.type === 'NewExpression' && isNode(node.callee) && ERROR.test(text(node.callee))) return;
    if (node.type === 'Property' && isNode(node.key) && isNode(node.value)) {
      if (!PROSE.has(text(node.key))) walk(node.value);
      if (node.computed === true) walk(node.key);
      return;
    }
    mutate(node);
    for (const [member, value] of Object.entries(node)) {
      if (MEMBERS_LEFT_ALONE.has(member)) continue;
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child);
    }
  }

  for (const statement of program.body) if (isNode(statement)) walk(statement);
  return mutants.sort((a, b) => a.start - b.start || a.end - b.end);
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value && 'end' in value;
