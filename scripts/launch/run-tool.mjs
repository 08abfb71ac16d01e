// @ts-check
// Runs npm, pnpm and similar tools. Their output goes to a file in .data/logs; if a tool fails, its last lines are
// shown with one sentence. The tool ends when we end.

import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.mjs';
import { dataFolder } from './folders.mjs';

const KEPT_LINES = 30;
const UNTRUSTED =
  /SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER_CERT|VERIFY_LEAF_SIGNATURE)|CERT_HAS_EXPIRED/;
const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * @param {string} name the log's name
 * @param {string} file @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, sentence: string, onLine?: (line: string) => void }} options
 */
export async function runTool(name, file, args, options) {
  mkdirSync(join(dataFolder, 'logs'), { recursive: true });
  const log = createWriteStream(join(dataFolder, 'logs', `${name}.log`));
  log.on('error', () => {});
  const child = spawn(file, args, { cwd: options.cwd, env: options.env, stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = () => {
    child.kill('SIGTERM');
    process.exit(130);
  };
  for (const signal of SIGNALS) process.once(signal, stop);
  /** @type {string[]} */
  const last = [];
  let rest = '';
  let untrusted = false;
  /** @param {string} text */
  const onText = (text) => {
    log.write(text);
    const lines = (rest + text).split(/[\r\n]+/);
    rest = (lines.pop() ?? '').slice(-4096);
    for (const line of lines) keep(line);
  };
  /** @param {string} line */
  const keep = (line) => {
    if (line.trim() === '') return;
    if (last.push(line) > KEPT_LINES) last.shift();
    // Both tools retry every package for minutes, but an untrusted certificate stays untrusted, so stop at once.
    if (UNTRUSTED.test(line)) {
      untrusted = true;
      child.kill('SIGTERM');
    }
    options.onLine?.(line);
  };
  child.stdout.setEncoding('utf8').on('data', onText);
  child.stderr.setEncoding('utf8').on('data', onText);
  const code = await new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (exit, signal) => resolve(exit ?? signal));
  });
  for (const signal of SIGNALS) process.off(signal, stop);
  keep(rest);
  log.end();
  if (code !== 0 || untrusted) throw new Failure(sentenceFor(last.join('\n')) ?? options.sentence, last);
}

/** Recognizes the usual causes in the output of npm and pnpm. @param {string} output */
function sentenceFor(output) {
  if (/ENOSPC|EDQUOT|no space left/i.test(output)) return 'The disk is full: free about 1.5 GB and run it again.';
  if (/EROFS/.test(output)) return 'The folder is on a read-only disk: make it writable and run it again.';
  if (/EACCES|EPERM/.test(output))
    return 'A file here belongs to another user: change the owner of this folder, or start as the user it belongs to.';
  if (UNTRUSTED.test(output))
    return "The package registry's certificate is not trusted here: set npm's cafile, or NODE_EXTRA_CA_CERTS, to a file with your network's certificates.";
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT/.test(output))
    return 'The package registry cannot be reached: the first start needs the network once (npm settings and proxies are honoured).';
  return null;
}
