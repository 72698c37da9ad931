import { messageOf } from '@wins/base';
import type { LoadedConfig } from '@wins/config';
import { metricsServiceDefinition, runsDefinition } from '@wins/wins-api/contract';
import os from 'node:os';
import { callRunningDaemon } from '../../client/running-daemon.js';
import { diskSpace } from '../../free-bytes.js';
import { auditDirectoryOf, stateDirectoryOf } from '../../kept-directory.js';
import type { Reported } from '../../kernel/conditions/condition.js';
import type { DoctorHost } from '../../kernel/doctor-host.js';
import type { RingEvent } from '../../kernel/events/ring-files.js';
import type { KnownRuns } from './run-rows.js';

/** Use of something that is limited. */
export interface Share {
  readonly what: string;
  readonly usedBytes: number;
  readonly totalBytes: number;
}

/** State of a node at one time, as the daemon, the events and the system tell it. */
export interface PageFacts {
  readonly madeAtMs: number;
  readonly host: string;
  readonly isAnswering: boolean;
  readonly reported: readonly Reported[];
  readonly events: readonly RingEvent[];
  /** Why there are no events; undefined if they could be read. */
  readonly eventsFault: string | undefined;
  readonly runs: KnownRuns;
  readonly memory: readonly Share[];
  readonly disks: readonly Share[];
  /** Bytes to and from clients of the tunnel since the daemon started; undefined while metrics are off. */
  readonly tunnelBytes: { readonly toClients: number; readonly fromClients: number } | undefined;
}

/** Where the facts are. */
export interface PageSource {
  readonly host: Pick<DoctorHost, 'daemonStatus' | 'call' | 'events'>;
  readonly listen: string;
  /** Config with which a daemon would start now; undefined if there is none. */
  readonly loaded: Pick<LoadedConfig, 'config'> | undefined;
}

const ASKER = 'wins status';

/** Asks the daemon for what the page shows besides the findings. If no daemon answers, reads the disk. */
export async function pageFacts(
  { host, listen, loaded }: PageSource,
  reported: readonly Reported[],
): Promise<PageFacts> {
  const isAnswering = await host.daemonStatus(listen).then(
    () => true,
    () => false,
  );
  const metrics = isAnswering ? await metricsOf(listen) : undefined;
  const used = metrics?.get('process_resident_memory_bytes');
  const totalBytes = os.totalmem();
  const memory = [
    { what: 'this host', usedBytes: totalBytes - os.freemem(), totalBytes },
    ...(used === undefined
      ? []
      : [{ what: 'the daemon, of this host', usedBytes: used, totalBytes }]),
  ];
  const [fromClients, toClients] = ['in', 'out'].map((direction) =>
    metrics?.get(`wins_tunnel_bytes_total{direction="${direction}"}`),
  );
  return {
    madeAtMs: Date.now(),
    host: os.hostname(),
    isAnswering,
    reported,
    ...(await eventsOf(host.events(listen))),
    runs: isAnswering ? await runsOf(host, listen) : NO_RUNS,
    memory,
    disks: await disksOf([
      ['state folder', stateDirectoryOf(listen)],
      ['audit log', auditDirectoryOf({ listen, audit: loaded?.config.audit ?? {} })],
    ]),
    tunnelBytes:
      fromClients === undefined || toClients === undefined ? undefined : { fromClients, toClients },
  };
}

const NO_RUNS: KnownRuns = { isKnown: false, runs: [] };

async function eventsOf(kept: Promise<readonly RingEvent[]>) {
  try {
    return { events: await kept, eventsFault: undefined };
  } catch (error) {
    return { events: [], eventsFault: messageOf(error) };
  }
}

async function runsOf(host: PageSource['host'], listen: string): Promise<KnownRuns> {
  try {
    const request = { all: true, measured: true, name: '' };
    const { runs } = await host.call(listen, runsDefinition.list, request);
    return { isKnown: true, runs };
  } catch {
    // A daemon that is busy or ends: the findings say so.
    return NO_RUNS;
  }
}

/** Values by the names of their series, or undefined while metrics are off. */
async function metricsOf(server: string): Promise<ReadonlyMap<string, number> | undefined> {
  try {
    const { scrape } = metricsServiceDefinition;
    const { text } = await callRunningDaemon({ server }, scrape, {}, { asker: ASKER });
    return new Map(
      text.split('\n').flatMap((line) => {
        const [, series, value] = /^([^#\s]\S*) (\S+)$/.exec(line) ?? [];
        return series === undefined ? [] : [[series, Number(value)] as const];
      }),
    );
  } catch {
    return undefined;
  }
}

async function disksOf(folders: readonly (readonly [string, string])[]): Promise<readonly Share[]> {
  const disks: Share[] = [];
  for (const [what, folder] of folders) {
    try {
      const { freeBytes, totalBytes } = await diskSpace(folder);
      disks.push({ what: `${what} ${folder}`, usedBytes: totalBytes - freeBytes, totalBytes });
    } catch {
      // The findings say why.
    }
  }
  return disks;
}
