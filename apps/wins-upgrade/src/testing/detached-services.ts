import type { ServiceRunner } from '@wins/installation/testing';
import { parseServiceCommand } from '@wins/service-upgrade';
import { DetachedProcess } from '@wins/base/testing';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

const GRACE_MS = 30_000;
/** Services get these variables, so that their pipes are in the folder of this process's pipes. */
const PASSED_ON = ['PATH', 'WINS_RUNTIME_DIR'] as const;

/** Runs services as processes that outlive this process. Linux only. */
export function detachedServices(folder: string): ServiceRunner {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const processOf = (name: string) => new DetachedProcess(path.join(folder, `${name}.pid`));
  return {
    isRunning: (name) => processOf(name).pid !== undefined,
    isStopping: (name) => processOf(name).isStopping,
    start: async (name, { command, environment: own }) => {
      const found = parseServiceCommand(command, () => true);
      if (found === undefined) throw new Error(`cannot start ${name}: found no program`);
      const { imagePath: file, args } = found;
      const passed = PASSED_ON.map((each) => [each, process.env[each]] as const);
      const environment = { ...Object.fromEntries(passed), ...own };
      const log = path.join(folder, `${name}.log`);
      await processOf(name).start({ file, args, environment, log }, GRACE_MS);
    },
    stop: (name) => processOf(name).stop(GRACE_MS),
  };
}
