import type { ServiceRunner } from '@wins/node-install/testing';
import { parseServiceCommand } from '@wins/service-upgrade';
import { errnoOf } from '@wins/wins-program';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

const GRACE_MS = 30_000;
const LOOK_EVERY_MS = 20;
/** What a service gets of our environment: where its pipes are, so that it is found again. */
const PASSED_ON = ['PATH', 'WINS_RUNTIME_DIR'] as const;

/** Waits for a word by which this process says that it knows the child, which ends if this process does before. */
const ONCE_KNOWN = 'read -r word <&3 && exec "$@" 3<&-';

/** Services as processes of their own, which outlive this one, known by PID and time of start. Linux alone. */
export function detachedServices(folder: string): ServiceRunner {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = (name: string): string => path.join(folder, `${name}.pid`);
  const stopping = (name: string): string => path.join(folder, `${name}.stopping`);
  const process_ = (name: string): number | undefined => {
    const [pid = '', started] = (readIfThere(file(name)) ?? '').split(' ');
    return started !== undefined && startOf(Number(pid)) === started ? Number(pid) : undefined;
  };
  const ended = async (name: string): Promise<void> => {
    const pid = process_(name);
    const end = performance.now() + GRACE_MS;
    while (pid !== undefined && process_(name) === pid) {
      if (performance.now() >= end) process.kill(pid, 'SIGKILL');
      await delay(LOOK_EVERY_MS);
    }
    for (const each of [file(name), stopping(name)]) rmSync(each, { force: true });
  };
  return {
    isRunning: (name) => process_(name) !== undefined,
    isStopping: (name) => process_(name) !== undefined && existsSync(stopping(name)),
    start: async (name, { command, environment }) => {
      const found = parseServiceCommand(command, () => true);
      if (found === undefined) throw new Error(`cannot start ${name}: found no program`);
      await ended(name);
      const passed = PASSED_ON.map((each) => [each, process.env[each]] as const);
      const env = { ...Object.fromEntries(passed), ...environment };
      const log = openSync(path.join(folder, `${name}.log`), 'a', 0o600);
      try {
        accessSync(found.imagePath, constants.X_OK);
        const words = ['-c', ONCE_KNOWN, 'sh', found.imagePath, ...found.args];
        const child = spawn('/bin/sh', words, {
          ...{ cwd: '/', env, detached: true, stdio: ['ignore', log, log, 'pipe'] },
        });
        await once(child, 'spawn');
        child.unref();
        writeFileSync(file(name), `${child.pid ?? 0} ${startOf(child.pid ?? 0) ?? ''}`);
        const known = child.stdio[3] as Writable;
        // A child that has ended by then is seen as one that does not run.
        known.on('error', () => undefined).end('known\n');
      } finally {
        closeSync(log);
      }
    },
    stop: async (name) => {
      const pid = process_(name);
      if (pid === undefined) return;
      // Whoever comes after this process has ended must know that the service does not run for long.
      writeFileSync(stopping(name), '');
      process.kill(pid, 'SIGTERM');
      await ended(name);
    },
  };
}

/** When a process was started, as /proc says it; undefined for one that is not there, or has ended. */
function startOf(pid: number): string | undefined {
  const text = readIfThere(`/proc/${pid}/stat`);
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields?.[0] === 'Z' ? undefined : fields?.[19];
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}
