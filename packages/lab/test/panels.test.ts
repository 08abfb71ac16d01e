import t from 'tap';
import { makerOf } from '../src/replay/families.ts';
import { namedPanels, PANELS } from '../src/replay/panels.ts';
import { recordedPolls } from '../src/replay/recorded-poll.ts';
import { FIVE, votesOf } from './recorded-votes.ts';

t.test('families of recorded models', async (t) => {
  const families = Object.fromEntries(
    [
      'gemini-1.5-pro-002',
      'gemma-7b',
      'Llama-2-7b-hf',
      'Meta-Llama-3_1-70B',
      'mathstral-7B',
      'Mixtral-8x7B-v0.1',
      'Mistral-7B-v0.1',
    ].map((model) => [model, makerOf(model)]),
  );
  t.same(Object.values(families), ['google', 'google', 'meta', 'meta', 'mistral', 'mistral', 'mistral']);
  t.equal(makerOf('Qwen1.5-110B'), makerOf('Qwen1.5-7B-Chat'));
  t.equal(makerOf('Yi-34B'), makerOf('Yi-6b-Chat'));
  t.equal(makerOf('a-model-of-tomorrow'), 'a-model-of-tomorrow', 'unknown: a family of its own');
  t.same(
    Object.values(PANELS).map((models) => new Set(models.map(makerOf)).size),
    [5, 9, 9],
  );
});

t.test('panels by short name and by models', async (t) => {
  const recorded = PANELS.r12!.concat(PANELS.r7!);
  t.same(
    namedPanels(undefined, recorded).map(({ name, models }) => [name, models.length]),
    [
      ['r7', 7],
      ['r9', 9],
      ['r12', 12],
    ],
  );
  t.same(namedPanels('r9', recorded), [{ name: 'r9', models: PANELS.r9 }]);
  t.same(namedPanels('gemma-7b, Yi-34B', recorded), [{ name: '2 models', models: ['gemma-7b', 'Yi-34B'] }]);
  t.throws(() => namedPanels('gemma-7b,unknown', recorded), /no model unknown/);
  t.throws(() => namedPanels('gemma-7b,gemma-7b', recorded), /once/);
  t.throws(() => namedPanels('gemma-7b', recorded), /two models/);
  t.throws(() => namedPanels('constructor', recorded), /no model constructor/);
  t.throws(() => namedPanels('r7', ['gemma-7b']), /no model gemini-1.5-pro-002, /);
});

t.test('a recorded question becomes a poll in panel order', async (t) => {
  const file = votesOf(FIVE, ['ABC-D', 'AB.CD', 'DDDDD']);
  const panel = { name: 'test', models: ['gemini-x', 'claude-x', 'gpt-x', 'Mistral-x'] };
  const polls = recordedPolls(file, panel);
  t.same(
    polls.map(({ question }) => question.id),
    ['1', '3'],
    'not put to every model: left out',
  );
  const [first] = polls;
  t.same(first!.models.toSorted(), panel.models.toSorted());
  const cast: Record<string, number | null> = { 'gemini-x': 0, 'claude-x': 1, 'gpt-x': 2, 'Mistral-x': null };
  t.same(
    first!.votes,
    first!.models.map((model) => cast[model]),
    'each vote is that of its model',
  );
  t.same(recordedPolls(file, panel), polls, 'the same order every time');
});
