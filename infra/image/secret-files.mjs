import { readFileSync } from 'node:fs';

// Loaded before a process of ours: NAME_FILE=/run/secrets/x becomes NAME, so that a secret is a file that only this
// container mounts and never stands in a manifest, in `docker inspect` or in the environment of a child. A file that
// cannot be read ends the start with one line, instead of a service that runs without its secret.

for (const [name, file] of Object.entries(process.env)) {
  if (!name.endsWith('_FILE') || name === 'MODELS_FILE' || !file) continue;
  const variable = name.slice(0, -'_FILE'.length);
  if (process.env[variable]) fail(`${variable} and ${name} are both set: keep one of them`);
  try {
    process.env[variable] = readFileSync(file, 'utf8').trim();
  } catch (error) {
    fail(`${name}: ${file} cannot be read (${error.code})`);
  }
  delete process.env[name];
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}
