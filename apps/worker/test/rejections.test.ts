import { openMetrics } from '@eloquentpoll/ops';
import t from 'tap';
import { rejectionReport } from '../src/ops/rejections.ts';

t.test('a rejected field is logged with what to change and counted, a refused key too', async (t) => {
  const metrics = openMetrics('worker');
  const lines: [object, string][] = [];
  const report = rejectionReport(
    { error: (fields: object, event: string) => void lines.push([fields, event]) },
    metrics,
  );
  const by = { provider: 'openai', modelId: 'openai/gpt-5.6-luna' };
  report({ ...by, status: 400, field: 'temperature', change: '"temperature": false of the model' });
  report({ ...by, status: 401, field: null, change: 'the key in OPENAI_API_KEY' });
  t.same(lines, [
    [
      { provider: 'openai', model: by.modelId, field: 'temperature', change: '"temperature": false of the model' },
      'provider.field_rejected',
    ],
    [{ provider: 'openai', status: 401, change: 'the key in OPENAI_API_KEY' }, 'provider.access_refused'],
  ]);
  t.match(
    await metrics.text(),
    /eloquentpoll_provider_access_refused_total\{provider="openai",model="openai\/gpt-5.6-luna"\} 1/,
  );
  t.match(
    await metrics.text(),
    /eloquentpoll_provider_fields_rejected_total\{model="openai\/gpt-5.6-luna",field="temperature"\} 1/,
  );
});
