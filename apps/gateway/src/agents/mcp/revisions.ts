/** The supported MCP revisions, newest first: all that have Streamable HTTP. */
export const REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'] as const;
