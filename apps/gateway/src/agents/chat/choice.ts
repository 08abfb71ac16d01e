import { type Issue, isJsonObject } from '@eloquentpoll/contracts';
import { parseShorthand } from '@eloquentpoll/contracts/shorthand';
import { invalid } from '../../http/api-error.ts';
import type { ChatText } from './messages.ts';
import { readSchema } from './schema-choice.ts';

// Finds the options of a request and the form in which the caller wants the winner: a forced tool, a schema, or
// brackets at the end of the text.

/** The form of the winner: plain text, JSON of the schema, or a tool call. */
export type AnswerForm =
  | { kind: 'text' }
  | { kind: 'json'; fill: (option: string) => unknown }
  | { kind: 'tool'; name: string; fill: (option: string) => unknown };

export interface ChatChoice {
  question: string;
  options: string[];
  /** The member that contained the options. */
  field: 'response_format' | 'tools' | 'messages';
  form: AnswerForm;
}

export const EXAMPLE_REQUEST = {
  model: 'eloquentpoll/free',
  messages: [{ role: 'user', content: 'Which of these cities is farthest north? [Vancouver, Paris, London, Toronto]' }],
};

export function readChoice(body: Record<string, unknown>, { context, text }: ChatText): ChatChoice {
  const tool = forcedTool(body);
  const format = schemaIn(body.response_format);
  if (tool && format) throw wrong('response_format', 'response_format and a forced tool ask for two answers');
  if (tool) {
    const { options, descriptions, fill } = choiceIn(tool.parameters, 'tools');
    const form = { kind: 'tool', name: tool.name, fill } as const;
    return { question: joined(context, tool.description, ...descriptions, text), options, field: 'tools', form };
  }
  if (format) {
    const { options, descriptions, fill } = choiceIn(format.schema, 'response_format');
    const question = joined(context, format.description, ...descriptions, text);
    return { question, options, field: 'response_format', form: { kind: 'json', fill } };
  }
  const parsed = parseShorthand(text);
  if (!parsed.ok) throw wrong('messages', `${parsed.issue.detail}. ${HOW}`);
  const { question, options } = parsed.value;
  if (options === null) throw wrong('messages', `no options found. ${HOW}`);
  return { question: joined(context, question), options, field: 'messages', form: { kind: 'text' } };
}

/** Without duplicates, because libraries repeat a description in several places. */
const joined = (...texts: readonly string[]): string =>
  [...new Set(texts.filter((text) => text.trim() !== ''))].join('\n\n');

function choiceIn(schema: unknown, field: 'tools' | 'response_format') {
  const part = readSchema(schema);
  if (part.kind === 'choice') return part;
  throw wrong(field, `${part.kind === 'wrong' ? part.detail : 'the schema has no enum to choose from'}. ${HOW}`);
}

interface Described {
  description: string;
  schema: unknown;
}

function schemaIn(format: unknown): Described | null {
  if (format === undefined || format === null) return null;
  const type = isJsonObject(format) ? format.type : undefined;
  if (type === 'text') return null;
  if (type === 'json_object') throw wrong('response_format', `json_object names no property to fill. ${HOW}`);
  const given = isJsonObject(format) && isJsonObject(format.json_schema) ? format.json_schema : {};
  if (type === 'json_schema' && isJsonObject(given.schema)) {
    return { description: textIn(given.description), schema: given.schema };
  }
  throw wrong('response_format', `response_format must be text, or json_schema with a schema. ${HOW}`);
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

interface Tool {
  name: string;
  description: string;
  parameters: unknown;
}

/** The tool that the request forces; null if the model may choose, in which case no tool is called. */
function forcedTool({ tools, tool_choice: choice }: Record<string, unknown>): Tool | null {
  const known = readTools(tools ?? []);
  if (choice === undefined || choice === null || choice === 'none' || choice === 'auto') return null;
  if (choice === 'required') {
    const [only] = known;
    if (only && known.length === 1) return only;
    throw wrong(
      'tool_choice',
      `required means one tool, and there are ${known.length}: name the one that holds the options`,
    );
  }
  const called: unknown =
    isJsonObject(choice) && choice.type === 'function' && isJsonObject(choice.function)
      ? choice.function.name
      : undefined;
  const found = known.find(({ name }) => name === called);
  if (!found) throw wrong('tool_choice', 'tool_choice must be none, auto, required, or name a function of tools');
  return found;
}

function readTools(tools: unknown): Tool[] {
  const list: unknown[] = Array.isArray(tools) ? tools : [null];
  return list.map((tool) => {
    const given = isJsonObject(tool) && tool.type === 'function' && isJsonObject(tool.function) ? tool.function : {};
    if (typeof given.name !== 'string' || given.name === '')
      throw wrong('tools', 'tools must be a list of functions with names');
    return { name: given.name, description: textIn(given.description), parameters: given.parameters ?? {} };
  });
}

const HOW = `A poll chooses among 2 to 10 options: end the text with them, as in ${JSON.stringify(EXAMPLE_REQUEST)}, or send them as the enum of one string property in response_format json_schema, or of the tool that tool_choice names.`;

function wrong(field: string, detail: string): Error {
  const issue: Issue = { pointer: `#/${field}`, detail };
  return invalid([issue]);
}
