import { existsSync, readFileSync, rmSync } from 'node:fs';
import type { NodeWorld } from './node-world.js';
import { nodeRelease } from './node-release.js';

/**
 * JavaScript that a release runs first. It records each change that a command makes to the disk or to services. After the change named by DIES_AT
 * (number or kind), it kills the command with SIGKILL. It spares the daemon.
 */
const MORTAL = `
const { DIES_AT: diesAt, CHANGES: changes } = process.env;
if (changes !== undefined) {
  const fs = require('node:fs');
  const promises = require('node:fs/promises');
  const processes = require('node:child_process');
  const say = fs.appendFileSync;
  let count = 0;
  const done = (what, file) => {
    // The files of the lock, which is a socket, do not count as changes of the node.
    if (/\\/node\\/(\\.[^/]*(\\/s)?|node\\.lock)$/.test(file)) return;
    count += 1;
    say(changes, what + ' ' + file + '\\n');
    if (String(count) === diesAt || what === diesAt) process.kill(process.pid, 'SIGKILL');
  };
  for (const name of ['rename', 'unlink', 'rmdir', 'rm', 'mkdir']) {
    const { [name]: original } = promises;
    promises[name] = async (...args) => {
      const result = await original.apply(promises, args);
      done(name, args[name === 'rename' ? 1 : 0]);
      return result;
    };
    const { [name]: old } = fs;
    fs[name] = (...args) => {
      const end = args.pop();
      return old.call(fs, ...args, (error, ...more) => {
        if (!error) done(name, args[name === 'rename' ? 1 : 0]);
        end(error, ...more);
      });
    };
  }
  const { open } = promises;
  promises.open = async (...args) => {
    const handle = await open.apply(promises, args);
    const { sync } = handle;
    handle.sync = async () => {
      await sync.call(handle);
      if (String(args[0]).endsWith('journal.jsonl')) done('journal', args[0]);
    };
    return handle;
  };
  const { spawn } = processes;
  processes.spawn = (...args) => {
    const child = spawn.apply(processes, args);
    if (args[2]?.detached === true) child.once('spawn', () => setImmediate(done, 'start', args[0]));
    return child;
  };
  const { kill } = process;
  process.kill = (pid, signal) => {
    const result = kill.call(process, pid, signal);
    if (signal === 'SIGTERM') done('stop', pid);
    return result;
  };
}
`;

export function mortalRelease({ workspace }: NodeWorld, version?: string): string {
  return nodeRelease(workspace, version, MORTAL);
}

/** The last change before a command is killed. A number counts all changes from 1. A word means the first change of this kind. */
export type Death = number | 'start' | 'stop';

export interface Life {
  readonly wasKilled: boolean;
  readonly changes: readonly string[];
}

export async function live(
  world: NodeWorld,
  program: string,
  args: readonly string[],
  variables: NodeJS.ProcessEnv,
  diesAt?: Death,
): Promise<Life> {
  const file = world.workspace.path('changes');
  rmSync(file, { force: true });
  const deadly = { CHANGES: file, ...(diesAt !== undefined && { DIES_AT: String(diesAt) }) };
  const { signal } = await world.wins(args, { ...variables, ...deadly }, program);
  const changes = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  return { wasKilled: signal === 'SIGKILL', changes };
}
