/** For the configuration of an MCP host; most hosts expand the environment variable. */
export const mcpConfigExample = ({ baseUrl }: { baseUrl: string }): string =>
  `${JSON.stringify(
    {
      mcpServers: {
        eloquentpoll: {
          type: 'http',
          url: `${baseUrl}/api/mcp`,
          // biome-ignore lint/suspicious/noTemplateCurlyInString: expanded by the host.
          headers: { Authorization: 'Bearer ${EP_KEY}' },
        },
      },
    },
    null,
    2,
  )}\n`;
