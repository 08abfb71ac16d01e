import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

// Runs one process as a container would: read-only root file system, only /tmp writable, an unprivileged user, no
// capabilities, no new privileges, and its own namespaces except for the network.

const UNPRIVILEGED_UID = 65534;
const TIMEOUT_MS = 60_000;

export interface Sandboxed {
  /** Its output from both streams, line by line. */
  lines: string[];
  /** The process's id on this machine, outside of its namespace. */
  pid: Promise<number>;
  /** Its exit code. */
  ended: Promise<number | null>;
  /** Resolves with the first line that contains the words; rejects with the whole output if the process ends first. */
  says(words: string): Promise<string>;
  kill(): void;
}

export interface SandboxOptions {
  bubblewrap: string;
  imageRoot: string;
  args: string[];
  env: Record<string, string>;
  /** Folders of this machine, by their mount points. */
  volumes?: Record<string, string>;
}

export function sandbox({ bubblewrap, imageRoot, args, env, volumes = {} }: SandboxOptions): Sandboxed {
  const settings = Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]);
  const child = spawn(
    bubblewrap,
    [
      ...['--unshare-all', '--share-net', '--die-with-parent', '--new-session', '--as-pid-1', '--info-fd', '3'],
      ...['--uid', `${UNPRIVILEGED_UID}`, '--gid', `${UNPRIVILEGED_UID}`, '--cap-drop', 'ALL', '--hostname', 'sandbox'],
      ...['--ro-bind', imageRoot, '/', '--proc', '/proc', '--dev', '/dev', '--remount-ro', '/dev', '--tmpfs', '/tmp'],
      ...Object.entries(volumes).flatMap(([target, folder]) => ['--bind', folder, target]),
      ...['--chdir', '/app', '--clearenv', ...settings, '--', '/usr/bin/node', ...args],
    ],
    // If we are root, the process runs as an unprivileged user outside of its namespace too.
    {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      ...(process.getuid?.() === 0 && { uid: UNPRIVILEGED_UID, gid: UNPRIVILEGED_UID }),
    },
  );
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream! }).on('line', (line) => {
      lines.push(line);
      for (const listener of listeners) listener();
    });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    lines,
    pid: childPid(child),
    ended,
    says: (words) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const line = lines.find((one) => one.includes(words));
          if (line === undefined) return;
          listeners.delete(look);
          resolve(line);
        };
        listeners.add(look);
        look();
        const fail = (why: string) => reject(new Error(`it ${why}:\n${lines.join('\n')}`));
        void ended.then((code) => fail(`ended with ${code}`));
        setTimeout(fail, TIMEOUT_MS, `said nothing of ${words}`).unref();
      }),
    kill: () => child.kill('SIGKILL'),
  };
}

/** Reads to the end: bubblewrap writes more than we need, and would be killed by SIGPIPE if the reader closed early. */
async function childPid(child: ChildProcess): Promise<number> {
  let text = '';
  for await (const chunk of child.stdio[3] as AsyncIterable<Buffer>) text += chunk;
  const pid = /"child-pid": (\d+)/.exec(text)?.[1];
  if (!pid) throw new Error('bubblewrap started nothing');
  return Number(pid);
}
