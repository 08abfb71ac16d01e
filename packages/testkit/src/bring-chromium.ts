import { createReadStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { requireSpace, toolsFolder } from '@eloquentpoll/launch/folders';
import { installExactly } from '@eloquentpoll/launch/npm';
import { runProgram } from '@eloquentpoll/services/run-program';
import { findChromium } from './chromium.ts';

// The browser for page tests: the machine's own, or one from npm with the libraries and the font that a bare machine
// lacks. The npm package has one exact version, is checked against its hash and kept in .tools. If there is none, only
// the tests that need one fail, with the reason found here.

const PACKAGE = '@sparticuz/chromium';
export const VERSION = '153.0.0';
const HASH = 'sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==';
const INSTALL = 'Install chromium, or name one in CHROMIUM_PATH.';

/** Variables to add to the environment of tests. */
export async function chromiumForTests(
  env: NodeJS.ProcessEnv,
  kept: string = join(toolsFolder, 'chromium'),
): Promise<{ CHROMIUM_PATH?: string; CHROMIUM_MISSING?: string }> {
  const found = findChromium(env);
  if (found !== null) return { CHROMIUM_PATH: found };
  try {
    return { CHROMIUM_PATH: await keptCopy(kept) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { CHROMIUM_MISSING: `${why} ${INSTALL}` };
  }
}

async function keptCopy(kept: string): Promise<string> {
  const program = join(kept, `chromium-${VERSION}.sh`);
  if (existsSync(program)) return program;
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(`npm has no Chromium for ${process.platform} on ${process.arch}.`);
  const work = `${kept}.new`;
  rmSync(work, { recursive: true, force: true });
  try {
    mkdirSync(work, { recursive: true });
    requireSpace(work, 500, 'a Chromium for tests of pages');
    // Only the archives are needed, not the code in the package.
    const packages = { [PACKAGE]: { version: VERSION, hash: HASH } };
    await installExactly(work, packages, { log: 'chromium', sentence: 'npm could not bring a Chromium.' });
    await unpack(join(work, 'node_modules', PACKAGE, 'bin'), work, kept);
    rmSync(join(work, 'node_modules'), { recursive: true });
    rmSync(kept, { recursive: true, force: true });
    renameSync(work, kept);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  const { ok, output } = await runProgram(program, ['--version'], { env: { PATH: process.env.PATH } }, 30_000);
  if (ok) return program;
  rmSync(kept, { recursive: true, force: true });
  throw new Error(`The Chromium from npm does not run on this machine: ${output.trim().split('\n')[0]}.`);
}

async function unpack(archives: string, work: string, kept: string): Promise<void> {
  await decompressed(join(archives, 'chromium.br'), join(work, 'chromium'));
  for (const name of ['al2023', 'swiftshader', 'fonts']) {
    const tar = join(work, `${name}.tar`);
    await decompressed(join(archives, `${name}.tar.br`), tar);
    const { ok, output } = await runProgram('tar', ['-xf', tar, '-C', work], {}, 60_000);
    if (!ok) throw new Error(`The Chromium from npm could not be unpacked: ${output.trim()}.`);
    rmSync(tar);
  }
  await writeFile(join(work, 'fonts.conf'), fontsIn(join(kept, 'fonts'), join(kept, 'font-cache')));
  await writeFile(join(work, `chromium-${VERSION}.sh`), starter(kept));
  await Promise.all(['chromium', `chromium-${VERSION}.sh`].map((name) => chmod(join(work, name), 0o755)));
}

const decompressed = (from: string, to: string): Promise<void> =>
  pipeline(createReadStream(from), createBrotliDecompress(), async (source) => {
    await writeFile(to, source);
  });

const fontsIn = (folder: string, cache: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}</dir><dir>/usr/share/fonts</dir><cachedir>${cache}</cachedir></fontconfig>
`;

/** Uses the libraries in the package, so that the machine needs only a C library. */
const starter = (kept: string): string => `#!/bin/sh
export LD_LIBRARY_PATH="\${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}${kept}/lib:${kept}"
export FONTCONFIG_FILE="${kept}/fonts.conf"
exec "${kept}/chromium" "$@"
`;
