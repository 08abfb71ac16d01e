import t from 'tap';
import { loadPanels } from '../src/panels.ts';
import { findingsOfError } from '../src/probe-findings.ts';

t.test(
  'where OpenRouter has no endpoint, the list of its models says whether it is the name or our terms',
  async (t) => {
    const panels = loadPanels({ file: 'openrouter' });
    const model = panels.models()[0]!;
    const provider = panels.provider(model.provider);
    const text = JSON.stringify({ error: { message: `No endpoints found for ${model.name}.`, code: 404 } });
    const found = (listed: string[]) =>
      findingsOfError(
        { status: 404, headers: {}, text },
        { provider, model, key: 'the key', sent: ['model', 'provider'], names: async () => listed },
      );
    t.match(await found([`${model.name}-2`]), [{ code: 'model_unknown', change: `"model": "${model.name}-2"` }]);
    for (const listed of [[model.name, 'another/model'], []])
      t.match(await found(listed), [{ code: 'field_rejected', says: /"provider" is turned away/, change: /"price"/ }]);
  },
);
