// Prompts for common decisions. Each becomes one message that asks the model to call poll_question. The user's text is
// inserted as JSON, so that it cannot pass for our instructions.

interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  /** Describes the poll for these arguments. */
  say(given: Readonly<Record<string, string>>): string;
}

const needed = (name: string, description: string): PromptArgument => ({ name, description, required: true });
const optional = (name: string, description: string): PromptArgument => ({ name, description, required: false });
const listed = (text: string): string[] =>
  text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');

export const PROMPTS: readonly Prompt[] = [
  {
    name: 'choose_between',
    title: 'Choose between options',
    description: 'Several models vote on which option is best.',
    arguments: [
      needed('question', 'The decision to make.'),
      needed('options', 'The options, separated by commas; 2 to 10.'),
    ],
    say: ({ question = '', options = '' }) => poll(question, listed(options)),
  },
  {
    name: 'go_or_no_go',
    title: 'Review: go or no-go',
    description: 'Several models vote on whether a change, a plan or a release should go ahead.',
    arguments: [
      needed('proposal', 'What is proposed.'),
      optional('context', 'What a reviewer needs to know: the diff, the risks, the alternatives.'),
    ],
    say: ({ proposal = '', context = '' }) =>
      poll(`Should this go ahead?\n\n${proposal}${context === '' ? '' : `\n\nContext:\n${context}`}`, [
        'Go: no serious problem',
        'Go after small changes',
        'No-go: a serious problem',
      ]),
  },
  {
    name: 'classify_text',
    title: 'Classify a text',
    description: 'Several models vote on the label of a text.',
    arguments: [needed('text', 'The text.'), needed('labels', 'The labels, separated by commas; 2 to 10.')],
    say: ({ text = '', labels = '' }) => poll(`Which label fits this text best?\n\n${text}`, listed(labels)),
  },
  {
    name: 'check_claim',
    title: 'Check a claim',
    description: 'Several models vote on whether a claim is true.',
    arguments: [needed('claim', 'One statement.'), optional('source', 'The text that the claim must follow from.')],
    say: ({ claim = '', source = '' }) =>
      source === ''
        ? poll(`Is this claim true?\n\n${claim}`, ['True', 'False', 'Cannot be known'])
        : poll(`Does this claim follow from the source?\n\nClaim: ${claim}\n\nSource:\n${source}`, [
            'It follows',
            'It contradicts the source',
            'The source does not say',
          ]),
  },
];

/** The text of a prompt, or a sentence that names the missing argument. */
export function promptText(
  prompt: Prompt,
  given: Readonly<Record<string, string>>,
): { text: string } | { wrong: string } {
  const missing = prompt.arguments.find(({ name, required }) => required && !given[name]?.trim());
  return missing ? { wrong: `${prompt.name} needs the argument ${missing.name}` } : { text: prompt.say(given) };
}

const poll = (question: string, options: readonly string[]): string =>
  `Call the tool poll_question with exactly these arguments, then show \`verdict.text\` of its answer and say in one sentence what follows from it:

${JSON.stringify({ question, options }, null, 2)}`;
