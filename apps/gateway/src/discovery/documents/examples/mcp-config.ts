/** For the configuration of an MCP host; most of them put the environment variable in its place. */
export const mcpConfigExample = (baseUrl: string): string =>
  `${JSON.stringify(
    {
      mcpServers: {
        eloquentpoll: {
          type: 'http',
          url: `${baseUrl}/api/mcp`,
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the host expands it, not we.
          headers: { Authorization: 'Bearer ${EP_KEY}' },
        },
      },
    },
    null,
    2,
  )}\n`;
