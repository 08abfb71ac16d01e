import { Failure } from '@eloquentpoll/launch/failure';

// The panels of the published figures, by short name, and panels that the command line lists model by model.

const R9 = [
  'gemini-1.5-pro-002',
  'Meta-Llama-3_1-70B-Instruct',
  'DeepSeek-Coder-V2',
  'jamba-1.5-large',
  'Qwen1.5-110B',
  'Mixtral-8x7B-Instruct-v0.1',
  'Phi-3-mini-4k-instruct',
  'Yi-34B',
  'c4ai-command-r-v01',
];

export const PANELS: Readonly<Record<string, readonly string[]>> = {
  r7: [
    'gemini-1.5-pro-002',
    'gemini-1.5-flash-002',
    'Meta-Llama-3_1-70B-Instruct',
    'DeepSeek-Coder-V2',
    'jamba-1.5-large',
    'Qwen1.5-110B',
    'Meta-Llama-3-70B',
  ],
  r9: R9,
  r12: [...R9, 'gemini-1.5-flash-002', 'mathstral-7B', 'gemma-7b'],
};

export interface NamedPanel {
  readonly name: string;
  readonly models: readonly string[];
}

/** A short name or a list of models, all of which `recorded` must know; without either, every short name. */
export function namedPanels(choice: string | undefined, recorded: readonly string[]): NamedPanel[] {
  const names = choice === undefined ? Object.keys(PANELS) : [choice];
  return names.map((name) => {
    const models = Object.hasOwn(PANELS, name) ? PANELS[name]! : name.split(',').map((model) => model.trim());
    const unknown = models.filter((model) => !recorded.includes(model));
    if (unknown.length > 0) throw new Failure(`the vote file has no model ${unknown.join(', ')}`);
    if (new Set(models).size < models.length) throw new Failure('a panel names a model once');
    if (models.length < 2) throw new Failure('a panel has at least two models');
    return { name: Object.hasOwn(PANELS, name) ? name : `${models.length} models`, models };
  });
}
