import type { ExitReason, ProcessState, RUN_STATES } from '@wins/process-manager';
import type { RouteEntry } from '@wins/wins-api';
import * as z from 'zod';
import { tied } from './tied.js';

export const time = z.iso.datetime().meta({ id: 'time', description: 'RFC 3339, in UTC.' });
const runState = tied<ProcessState['kind'] | (typeof RUN_STATES)[number]>()(
  z.enum([
    ...(['running', 'stopping', 'killing', 'draining', 'ended'] as const),
    ...(['starting', 'adopting', 'waiting', 'stopped', 'gaveUp'] as const),
  ]),
);
const runEndReason = tied<ExitReason | 'unknown'>()(
  z.enum([
    ...(['exited', 'outOfMemory', 'stopped', 'leaseEnded', 'leaseNeverHeld'] as const),
    ...(['ownerDisconnected', 'replaced', 'yielded', 'daemonStopping'] as const),
    ...(['hostFailed', 'unknown'] as const),
  ]),
);
const limits = {
  memoryLimitBytes: z.int().nullable(),
  cpuLimit: z.number().nullable(),
  processLimit: z.int().nullable(),
  limitedBy: z.string().nullable(),
};

const build = z
  .strictObject({
    Checksum: z.string().optional(),
    Version: z.string().optional(),
    Commit: z.string().optional(),
  })
  .meta({ id: 'build' });

const exit = {
  exitCode: z.int().optional(),
  signal: z.string().optional(),
  reason: runEndReason,
};

const run = {
  name: z.string(),
  process: z.string(),
  lifetime: z.enum(['connection', 'lease', 'detached']),
  state: runState,
  path: z.string(),
  pid: z.int().nullable().describe('Null before the first start.'),
  startedAt: time.nullable(),
  sha256: z.string().nullable(),
  exposes: z.array(z.string()).describe('Such as TCP:80.'),
  ...limits,
  endedAt: time.nullable(),
  exit: z.strictObject(exit).nullable(),
  outputBytes: z.int().nullable(),
  restarts: z.int(),
  restartAt: time.nullable(),
  gaveUp: z.string().nullable(),
  refused: z.string().nullable(),
};

const inspectedRun = z
  .strictObject({
    ...run,
    outputBytes: z.int(),
    args: z.array(z.string()).nullable().describe('Null for a run without --detach.'),
    variables: z.array(z.string()).nullable().describe('Names alone.'),
    directory: z.string().nullable().describe('Null: the folder of the program.'),
    owner: z.string().nullable(),
    restartPolicy: z.string(),
    failures: z.int().describe('In succession.'),
    keptBytes: z.int().nullable(),
    maxKeptBytes: z.int().nullable(),
    maxAgeMs: z.int().nullable().describe('After the end; null: no limit.'),
  })
  .meta({ id: 'inspectedRun' });

const runStats = z.array(
  z.strictObject({
    ...run,
    cpuPercent: z.number().nullable().describe('100 is one processor.'),
    cpuMs: z.number().nullable(),
    memoryBytes: z.number().nullable(),
    processes: z.int().nullable(),
    stdoutBytes: z.int(),
    stderrBytes: z.int(),
    outputPauses: z.int(),
  }),
);

const stoppedRun = z.strictObject({ name: z.string(), ...exit }).meta({ id: 'stoppedRun' });

/** The entry of the config that decides; `key` is empty if none matches. */
export const decidingEntry = z
  .strictObject({
    key: z.string(),
    file: z.string(),
    line: z.int().optional(),
    column: z.int().optional(),
  })
  .meta({ id: 'decidingEntry' });

/** Go's names of the fields; an empty field is left out. */
const ofOriginal = (...names: readonly string[]) =>
  z.strictObject(Object.fromEntries(names.map((name) => [name, z.string().optional()])));

export const CLIENT_JSON: Readonly<Record<string, z.ZodType>> = {
  'cli app info': z.strictObject({ Client: build, Server: build }),
  'cli prc ls': z.array(z.strictObject(run)),
  'cli prc stats': runStats,
  'cli prc top': runStats,
  'cli prc stop': z
    .union([stoppedRun, z.array(stoppedRun)])
    .describe('An array if several names were given.'),
  'cli prc inspect': z
    .union([inspectedRun, z.array(inspectedRun)])
    .describe('An array if several names were given.'),
  'cli explain': z.strictObject({
    subject: z.string(),
    allowed: z.boolean(),
    code: z.string(),
    reason: z.string(),
    entry: decidingEntry.optional(),
    udp: z
      .strictObject({
        allowed: z.boolean(),
        code: z.string(),
        reason: z.string(),
        entry: decidingEntry.optional(),
      })
      .optional(),
  }),
  'cli upgrade': z.strictObject({
    id: z.string().optional(),
    outcome: z.string(),
    reason: z.string(),
  }),
  'cli deliver': z.strictObject({
    path: z.string(),
    changed: z.boolean(),
    sha256: z.string(),
    kept: z.array(z.string()).optional(),
  }),
  'cli hst get-version': ofOriginal(
    'CurrentMajorVersionNumber',
    'CurrentMinorVersionNumber',
    'CurrentBuildNumber',
    'UBR',
    'ReleaseId',
    'BuildLabEx',
    'CurrentBuild',
  ),
  'cli net get': ofOriginal(
    'InterfaceIndex',
    'GatewayAddress',
    'SubnetCIDR',
    'HostName',
    'AddressCIDR',
  ),
  'cli hns get-network': z.strictObject({
    ID: z.string().optional(),
    Type: z.string().optional(),
    Subnets: z.array(ofOriginal('AddressCIDR', 'GatewayAddress')).optional(),
    ManagementIP: z.string().optional(),
  }),
  'cli route ls': z.array(
    tied<RouteEntry>()(
      z.strictObject({
        destinationCidr: z.string(),
        gateway: z.string(),
        interfaceIndex: z.int(),
        metric: z.int(),
      }),
    ),
  ),
};
