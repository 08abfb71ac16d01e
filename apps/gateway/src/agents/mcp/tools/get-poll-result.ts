import { ResultDetail } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import { inlined } from '../../../discovery/documents/inlined.ts';
import { invalid } from '../../../http/api-error.ts';
import { resultWithId } from '../../../polls/read/find-result.ts';
import { toResultDetail } from '../../../polls/read/public-result.ts';
import { READ_ONLY_HINTS, type Tool } from '../tool.ts';

const input = Type.Object({
  result_id: Type.Optional(
    Type.String({ description: 'The poll_id of a finished poll, for example EP-2026-11-20-0123456789abcdef.' }),
  ),
  poll_id: Type.Optional(Type.String({ description: 'The same id, under the name that poll_question returns.' })),
});

/** GET /api/results/{resultId} as a tool. */
export const getPollResult: Tool = {
  definition: {
    name: 'get_poll_result',
    description:
      'Read the stored result of a finished poll by its id. Costs nothing; a result never changes. Show `verdict.text` to people.',
    get inputSchema() {
      return inlined(input);
    },
    get outputSchema() {
      return inlined(ResultDetail);
    },
    annotations: { title: 'Read a poll result', ...READ_ONLY_HINTS },
  },
  operation: 'read',
  spends: false,
  async run({ context, input }): Promise<ResultDetail> {
    return toResultDetail(await resultWithId(context, idIn(input)));
  },
};

function idIn({ result_id, poll_id }: Record<string, unknown>): string {
  const id = result_id ?? poll_id;
  const refuse = (detail: string) => invalid([{ pointer: '#/result_id', detail }]);
  if (id === undefined) throw refuse('result_id or poll_id is required');
  if (typeof id !== 'string') throw refuse(`${result_id === undefined ? 'poll_id' : 'result_id'} must be a string`);
  if (poll_id !== undefined && poll_id !== id) throw refuse('result_id and poll_id differ; send one of them');
  return id;
}
