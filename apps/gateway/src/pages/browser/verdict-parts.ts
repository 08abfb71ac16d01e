import type { Verdict } from '@eloquentpoll/voting/verdict';
import { isolated, type Shape, shape } from './shape.ts';

/** The verdict, final or so far: the same block on the result page and in the view of a running poll. */
export function verdictBlock(verdict: Verdict, options: readonly string[]): Shape {
  const { kind, headlineParts, sentences, change, meaning } = verdict;
  const said = change === null || sentences.includes(change) ? sentences : [...sentences, change];
  return shape(
    'div',
    { class: `verdict ${kind}` },
    shape(
      'p',
      { class: 'headline', tabindex: -1, dir: 'auto' },
      ...headlineParts.map((part) => (typeof part === 'string' ? part : isolated(options[part.option] ?? ''))),
    ),
    shape('p', { class: 'says-why' }, ...said.flatMap(sentenceParts)),
    ...(meaning === null ? [] : [shape('p', { class: 'meaning' }, meaning)]),
  );
}

const sentenceParts = (sentence: string, i: number): (Shape | string)[] => [
  shape(
    'span',
    sentence.startsWith('Agreement:') || sentence.startsWith('Final:') ? { class: 'strong' } : {},
    i === 0 ? sentence : ` ${sentence}`,
  ),
];
