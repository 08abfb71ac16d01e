import { FreePollRequest } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import { inlined } from '../discovery/documents/inlined.ts';

const { question, options } = FreePollRequest.properties;

const tool = () => ({
  name: 'quick_poll',
  description:
    'Ask several open-weight AI models a multiple-choice question. Free. Without options the service derives them from the question. Anyone with its id can read the result.',
  inputSchema: inlined(Type.Object({ ...Type.Required(Type.Object({ question })).properties, options })),
  annotations: { readOnlyHint: false },
});

/**
 * Offers a free poll to agents inside the browser (WebMCP, a draft), under the draft's current name and its previous
 * one.
 */
export const webMcpScript = (): string => `{
  const tool = {
    ...${JSON.stringify(tool())},
    async execute({ question, options }) {
      const response = await fetch('/api/quick-poll', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ question, options }),
      });
      return { content: [{ type: 'text', text: await response.text() }], isError: !response.ok };
    },
  };
  const register = async () => {
    if (typeof document.modelContext?.registerTool === 'function') await document.modelContext.registerTool(tool);
    else if (typeof navigator.modelContext?.registerTool === 'function') await navigator.modelContext.registerTool(tool);
  };
  // A browser may refuse, for example inside a frame: the page works without.
  register().catch(() => undefined);
}
`;
