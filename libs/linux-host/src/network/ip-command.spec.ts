import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { runIpLines } from './ip-command.js';

const FAILS = ['route', 'del', '198.51.100.7/32', 'dev', 'lo', 'proto', '199', 'metric', '7'];
/** Runs until a signal ends it. */
const LASTS = ['monitor', 'route'];

/** The three standard streams are sockets. A batch has one of netlink, and `monitor` opens another. */
const SOCKETS_OF_MONITOR = 5;

function childrenOfThis(): number[] {
  const tasks = readdirSync('/proc/self/task');
  const texts = tasks.map((task) => readFileSync(`/proc/self/task/${task}/children`, 'latin1'));
  return texts.join(' ').split(/\s+/).filter(Boolean).map(Number);
}

function socketsOf(pid: number): number {
  try {
    const files = readdirSync(`/proc/${pid}/fd`);
    const targets = files.map((file) => readlinkSync(`/proc/${pid}/fd/${file}`));
    return targets.filter((target) => target.startsWith('socket:')).length;
  } catch {
    return 0;
  }
}

(existsSync('/sbin/ip') ? it : it.skip)(
  'lines that ip did not reach before a signal ended it do not count as done, also after a failed one',
  async () => {
    const running = runIpLines([FAILS, LASTS, FAILS]);
    running.catch(() => undefined);
    let monitor: number | undefined;
    while (monitor === undefined) {
      await delay(5);
      monitor = childrenOfThis().find((pid) => socketsOf(pid) >= SOCKETS_OF_MONITOR);
    }
    process.kill(monitor, 'SIGTERM');
    await expect(running).rejects.toMatchObject({ code: 'unknown' });
  },
);
