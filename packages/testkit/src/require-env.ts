/** Tests are never skipped because a service is missing: they fail and explain how to get one. */
export function requireEnv(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new Error(
      `${name} is not set: run tests with \`npm test\` (or \`npm test -- FILE\`), which starts the services that they import a use of`,
    );
  return value;
}
