import type { ServiceRunner } from '@wins/node-install/testing';
import { parseServiceCommand } from '@wins/service-upgrade';
import { errnoOf } from '@wins/wins-program';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const GRACE_MS = 30_000;
const LOOK_EVERY_MS = 20;
/** What a service gets of our environment: where its pipes are, so that it is found again. */
const PASSED_ON = ['PATH', 'WINS_RUNTIME_DIR'] as const;

/** Services as processes of their own, which outlive this one, known by PID and time of start. Linux alone. */
export function detachedServices(folder: string): ServiceRunner {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = (name: string): string => path.join(folder, `${name}.pid`);
  const process_ = (name: string): number | undefined => {
    const [pid = '', started] = (readIfThere(file(name)) ?? '').split(' ');
    return started !== undefined && startOf(Number(pid)) === started ? Number(pid) : undefined;
  };
  return {
    isRunning: (name) => process_(name) !== undefined,
    start: async (name, { command, environment }) => {
      const found = parseServiceCommand(command, () => true);
      if (found === undefined) throw new Error(`cannot start ${name}: found no program`);
      const passed = PASSED_ON.map((each) => [each, process.env[each]] as const);
      const env = { ...Object.fromEntries(passed), ...environment };
      const log = openSync(path.join(folder, `${name}.log`), 'a', 0o600);
      try {
        const child = spawn(found.imagePath, [...found.args], {
          ...{ cwd: '/', env, detached: true, stdio: ['ignore', log, log] },
        });
        await once(child, 'spawn');
        child.unref();
        writeFileSync(file(name), `${child.pid ?? 0} ${startOf(child.pid ?? 0) ?? ''}`);
      } finally {
        closeSync(log);
      }
    },
    stop: async (name) => {
      const pid = process_(name);
      if (pid === undefined) return;
      const end = performance.now() + GRACE_MS;
      process.kill(pid, 'SIGTERM');
      while (process_(name) !== undefined) {
        if (performance.now() >= end) process.kill(pid, 'SIGKILL');
        await delay(LOOK_EVERY_MS);
      }
      rmSync(file(name), { force: true });
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
