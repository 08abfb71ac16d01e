import { readFileSync } from 'node:fs';

// Loaded before a process of ours: NAME_FILE=/run/secrets/x becomes NAME, so that a secret is a file that only this
// container mounts and never stands in a manifest, in `docker inspect` or in the environment of a child. A file that
// cannot be read ends the start with one line, instead of a service that runs without its secret.

/** A setting of ours that is a file, and variables that clusters put into pods for other programs. */
const KEPT = new Set([
  'MODELS_FILE',
  'SSL_CERT_FILE',
  'AWS_CONFIG_FILE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
  'AZURE_FEDERATED_TOKEN_FILE',
]);

for (const [name, file] of Object.entries(process.env)) {
  if (!name.endsWith('_FILE') || KEPT.has(name) || !file) continue;
  const variable = name.slice(0, -'_FILE'.length);
  if (process.env[variable]) fail(`${variable} and ${name} are both set: keep one of them`);
  try {
    process.env[variable] = readFileSync(file, 'utf8').trim();
  } catch (error) {
    fail(`${name}: ${file} cannot be read (${error.code}): mount it below /run, or leave ${name} out`);
  }
  delete process.env[name];
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}
