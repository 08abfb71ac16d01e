import { type FreePollLimits, type FreePollProblem, freePollProblem, lengthOf } from './free-poll-problem.ts';

// The fields of a free poll: counts characters, spreads a pasted list over the option fields, submits on Ctrl+Enter.

/** The count is shown only when a text comes near its limit. */
const SHOWN_FROM = 0.7;

export function freePollFields(form: HTMLFormElement) {
  const limits = JSON.parse(form.dataset.limits!) as FreePollLimits;
  const question = form.querySelector<HTMLTextAreaElement>('textarea')!;
  const options = [...form.querySelectorAll<HTMLInputElement>('input[name="option"]')];

  function count(): void {
    show(form.querySelector('[data-counter="question"]')!, question.value, limits.question.max);
    for (const option of options)
      show(option.parentElement!.querySelector('[data-counter]')!, option.value, limits.option);
  }

  form.addEventListener('input', count);
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  for (const [i, option] of options.entries())
    option.addEventListener('paste', (event) => {
      const lines = (event.clipboardData?.getData('text') ?? '')
        .split(/\r?\n/)
        .map((line) => line.trim())
        .filter(Boolean);
      if (lines.length < 2) return;
      event.preventDefault();
      for (const [k, line] of lines.slice(0, options.length - i).entries()) options[i + k]!.value = line;
      count();
    });
  count();

  const read = () => ({ question: question.value, options: options.map(({ value }) => value) });
  return {
    read,
    problem: (): FreePollProblem | null => freePollProblem(read(), limits),
    focus: (field: FreePollProblem['field']) => (field === 'question' ? question : options[field])?.focus(),
  };
}

function show(counter: Element, text: string, most: number): void {
  const length = lengthOf(text);
  counter.textContent = length >= SHOWN_FROM * most ? `${length.toLocaleString()} / ${most.toLocaleString()}` : '';
  counter.classList.toggle('over', length > most);
}
