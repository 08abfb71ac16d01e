// A hundred texts of customers with what a person would say of each, for clients that classify.

export const LABELS = ['positive', 'negative', 'neutral'] as const;
export type Label = (typeof LABELS)[number];

export interface LabelledText {
  text: string;
  label: Label;
}

const THINGS = [
  'kettle lamp tent bicycle raincoat keyboard suitcase blender camera mattress',
  'umbrella backpack toaster monitor sofa drill carpet headset bookshelf stroller',
  'thermostat printer guitar helmet telescope',
].flatMap((line) => line.split(' '));

const SAID: readonly [said: string, label: Label][] = [
  ['came a day early and works perfectly', 'positive'],
  ['broke on the first day and support is silent', 'negative'],
  ['is blue and weighs about two kilos', 'neutral'],
  ['never arrived, and I want my money back', 'negative'],
];

export const TEXTS: readonly LabelledText[] = THINGS.flatMap((thing) =>
  SAID.map(([said, label]) => ({ text: `The ${thing} ${said}.`, label })),
);
