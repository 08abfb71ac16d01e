import { FreePollRequest } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import { inlined } from '../discovery/documents/inlined.ts';

const { question, options } = FreePollRequest.properties;

const tool = {
  name: 'quick_poll',
  description: 'Ask several open-weight AI models a multiple-choice question. Free. The result is public by its id.',
  inputSchema: inlined(Type.Required(Type.Object({ question, options }))),
};

/** Offers a free poll to an agent inside the browser (WebMCP, a draft) if the browser supports it. */
export const WEB_MCP_SCRIPT = `if ('modelContext' in navigator && typeof navigator.modelContext.registerTool === 'function') {
  navigator.modelContext.registerTool({
    ...${JSON.stringify(tool)},
    async execute({ question, options }) {
      const response = await fetch('/api/quick-poll', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ question, options }),
      });
      return { content: [{ type: 'text', text: await response.text() }], isError: !response.ok };
    },
  });
}
`;
