/** The last line of a command, for a reader who looks at no other: that all held, or what did not. */
export const verdictLine = (broken: readonly string[]): string =>
  broken.length === 0 ? 'everything held' : `did NOT hold: ${broken.join('; ')}`;
