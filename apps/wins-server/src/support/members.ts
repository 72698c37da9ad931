import { resolvePipePath } from '@wins/pipe-transport';
import { logFiles, logTail } from './log-tail.js';
import type { SupportMember } from './make-member.js';
import { metricsServiceDefinition } from '@wins/wins-api/contract';
import { adminPipeOf, COMMIT, SERVICE_NAME, VERSION } from '@wins/base';
import os from 'node:os';
import { factsIn } from '../kernel/told-facts.js';
import { readFacts } from '../client/feature-facts.js';
import { callRunningDaemon } from '../client/running-daemon.js';
import { examine } from '../doctor/examine.js';
import { reportValue } from '../kernel/conditions/report.js';
import { reportOf, type Reported } from '../kernel/conditions/condition.js';
import { hostSystem } from '../kernel/host-system/select-host-system.js';
import { serviceLogFolder } from '../kernel/log/windows-service-log.js';
import { serviceFacts } from './service-facts.js';
import { maskedConfig, withoutQuotedConfig, type SupportSource } from './support-source.js';
import { makePage } from './make-page.js';

const KIB = 1024;
const MIB = KIB * KIB;

export function supportMembers(source: SupportSource): readonly SupportMember[] {
  const { listen } = source;
  let findings: Promise<readonly Reported[]> | undefined;
  const examined = () => (findings ??= examine(source.host));
  const json = (name: string, make: () => Promise<unknown>, maxBytes = 256 * KIB) => ({
    name: `${name}.json`,
    maxBytes,
    make: async () => `${JSON.stringify(await make(), null, 2)}\n`,
  });
  return [
    json('versions', () => versions(source)),
    json('config', () => config(source), MIB),
    json('doctor', () => doctor(source, examined())),
    {
      name: 'status.html',
      maxBytes: MIB,
      isClean: true,
      make: async () => makePage(source, await examined()),
    },
    { name: 'events.jsonl', maxBytes: 4 * MIB, make: () => events(source) },
    { name: 'log.jsonl', maxBytes: 4 * MIB, make: log },
    { name: 'metrics.txt', maxBytes: 2 * MIB, make: () => metrics(source) },
    json('service', serviceFacts),
    json('network', network),
    json('pipes', () => pipes(source)),
    json('features', () => features(listen), 4 * MIB),
  ];
}

async function versions({ host, listen }: SupportSource): Promise<object> {
  const { node, system } = host.versions();
  const daemon = await host.daemonInfo(listen).catch((error: unknown) => String(error));
  return {
    program: { checksum: await host.programChecksum(), version: VERSION, commit: COMMIT },
    daemon,
    node,
    system,
    libraries: process.versions,
    host: {
      name: os.hostname(),
      platform: process.platform,
      architecture: process.arch,
      uptimeSeconds: Math.round(os.uptime()),
      processors: os.availableParallelism(),
      memoryBytes: os.totalmem(),
      freeMemoryBytes: os.freemem(),
    },
    // Only names: values may be secret.
    variables: Object.keys(process.env).sort(),
    at: new Date().toISOString(),
  };
}

/** The facts of each feature that has some. */
async function features(server: string): Promise<object> {
  const told = await readFacts({ server }, ['*'], { asker: 'wins support-bundle' });
  return Object.fromEntries(told.map(({ name }) => [name, factsIn(told, name)]));
}

function config({ loaded, fault }: SupportSource): Promise<object> {
  return loaded === undefined || fault !== undefined
    ? Promise.reject(new Error(fault))
    : Promise.resolve(maskedConfig(loaded));
}

async function doctor(
  { fault }: SupportSource,
  examined: Promise<readonly Reported[]>,
): Promise<object> {
  const findings = reportOf(await examined);
  return reportValue(
    fault === undefined ? findings : withoutQuotedConfig(findings, 'see config.json.error.txt'),
  );
}

async function events({ host, listen }: SupportSource): Promise<string> {
  return (await host.events(listen)).map((event) => `${JSON.stringify(event)}\n`).join('');
}

async function metrics({ named, listen }: SupportSource): Promise<string> {
  const daemon = { config: named, server: listen };
  const question = { asker: 'wins support-bundle' };
  const { scrape } = metricsServiceDefinition;
  return (await callRunningDaemon(daemon, scrape, {}, question)).text;
}

async function log(): Promise<string> {
  if (process.platform !== 'win32')
    throw new Error('cannot read the log: the daemon writes it to its standard error');
  const { bytes } = await logTail(await logFiles(serviceLogFolder(), SERVICE_NAME), 4 * MIB);
  return bytes.toString();
}

async function network(): Promise<object> {
  const system = hostSystem(process.platform);
  const failed = (error: unknown): string => String(error);
  return {
    adapter: await system.adapter().catch(failed),
    routes: await system.routes().catch(failed),
    interfaces: os.networkInterfaces(),
  };
}

async function pipes({ host, loaded, listen }: SupportSource): Promise<object> {
  const wanted = loaded?.config.pipeAccess;
  const admin = adminPipeOf(listen);
  const names = [listen, admin, ...(loaded === undefined ? [] : [loaded.config.proxy])];
  return Promise.all(
    names.map(async (name) => ({
      name,
      address: resolvePipePath(name).address,
      access: await host.pipeAccess(name, name === admin ? undefined : wanted).catch(String),
      reached: await host.reachPipe(name).then(() => true, String),
    })),
  );
}
