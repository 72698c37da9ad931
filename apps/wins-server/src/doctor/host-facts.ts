import { errnoOf } from '@wins/base';
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import type { RunningDaemonOptions } from '../client/running-daemon.js';
import { eventsOf, eventsOnDisk } from '../features/events/command.js';
import type { RingEvent } from '../kernel/events/ring-files.js';
import type { DialOutcome, DoctorHost } from '../kernel/doctor-host.js';

/** Number of newest events to keep. Older events are removed only when the list becomes longer than twice this number. */
const MOST_EVENTS = 20_000;
const DIAL_MS = 1000;

export async function descriptorsOf(pid: number): ReturnType<DoctorHost['descriptors']> {
  if (process.platform !== 'linux') return undefined;
  try {
    const limits = await readFile(`/proc/${pid}/limits`, 'utf8');
    const most = Number(/^Max open files +(\d+)/m.exec(limits)?.[1]);
    const open = (await readdir(`/proc/${pid}/fd`)).length;
    return Number.isNaN(most) ? undefined : { open, most };
  } catch (error) {
    // The process has ended, or belongs to another user.
    if (['ENOENT', 'ESRCH', 'EACCES'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}

/** Like the tunnel, connects to 127.0.0.1, and to ::1 if 127.0.0.1 refuses. */
export async function dial(port: number): ReturnType<DoctorHost['dial']> {
  const first = await dialAt('127.0.0.1', port);
  return first === 'refused' ? dialAt('::1', port) : first;
}

export function dialAt(host: string, port: number): Promise<DialOutcome> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: DIAL_MS });
    const end = (state: DialOutcome) => () => {
      socket.destroy();
      resolve(state);
    };
    socket
      .once('connect', end('open'))
      .once('timeout', end('silent'))
      .once('error', end('refused'));
  });
}

/** Reads the kept events of a daemon. @param asks - Whether the daemon is asked first, and the disk is read only if it does not answer. */
export async function keptEvents(
  daemon: RunningDaemonOptions & { readonly server: string },
  since: Date,
  asks = true,
) {
  const events: RingEvent[] = [];
  const all = asks
    ? eventsOf(daemon, { since, follow: false })
    : eventsOnDisk(daemon.server, since);
  for await (const some of all) {
    events.push(...some);
    if (events.length > 2 * MOST_EVENTS) events.splice(0, MOST_EVENTS);
  }
  return events;
}
