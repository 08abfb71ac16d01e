import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

// Runs in the sandbox instead of a service, tries what an intruder would try, and prints the outcome of each attempt.

const tries = {
  write_root: () => writeFileSync('/planted', 'x'),
  write_app: () => writeFileSync('/app/main.js', 'x'),
  write_node: () => writeFileSync('/usr/bin/node', 'x'),
  write_tmp: () => writeFileSync('/tmp/allowed', 'x'),
  write_dev: () => writeFileSync('/dev/planted', 'x'),
  become_root: () => process.setuid(0),
  run_shell: () => execFileSync('/bin/sh', ['-c', 'true']),
  read_passwords: () => readFileSync('/etc/shadow'),
};
const outcome = {};
for (const [name, attempt] of Object.entries(tries))
  try {
    attempt();
    outcome[name] = 'done';
  } catch (error) {
    outcome[name] = error.code;
  }
const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length;
process.stdout.write(`${JSON.stringify({ processes, uid: process.getuid(), gid: process.getgid(), ...outcome })}\n`);
