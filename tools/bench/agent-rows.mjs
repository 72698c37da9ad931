// Compares the agent with plain writes of files, a plain start of a program, and a daemon that follows no Secret.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, watch, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { mapValues, processorMs, residentMebibytes } from './costs.mjs';
import { medianTime, noRounds, ROUNDS } from './measure.mjs';

const FILES = 500;
const FILE_PLANS = 2;
const PLANS = 7;
const IDLE_MS = 60_000;
const OWN = { uid: -1, gid: -1 };

const MEMORY = 'idle agent, memory';
const IDLE = 'idle agent, 60 s';
const PROBES = 50;
const PROBED = `${PROBES} probes, 60 s`;
const AT_DEBUG = 'idle at debug level, 60 s';
const PLAN_OF_FILES = `plan, ${FILES} files`;
const INSTRUCTION = 'Secret to instruction';

export const agentRows = [MEMORY, IDLE, PLAN_OF_FILES, INSTRUCTION, PROBED, AT_DEBUG];

/** @param floor - PID of the process to compare with, which is an idle daemon without an agent. */
export async function measureAgent({ run, programs, wins, folder, floor }) {
  // Imported here, because the library must be built first.
  const { startApiServer } = await import('@wins/system-agent/testing');
  const { createWinsClient } = await import('@wins/wins-api');
  const { planServiceDefinition } = await import('@wins/wins-api/contract');
  const api = await startApiServer();
  try {
    api.create({ plan: '{}' });
    const config = configOf(folder, api);
    const daemon = await programs.start([wins, 'srv', 'app', 'run', '--config', config], (line) =>
      line.includes('"msg":"ready"'),
    );
    await applied(api, undefined);
    const both = { 'no agent': floor, wins: daemon.child.pid };

    run.addOnce(
      { name: MEMORY, unit: 'MiB', figure: { is: 'growth', atMost: 25 } },
      mapValues(both, residentMebibytes),
    );
    if (run.wants(IDLE))
      run.add(
        { name: IDLE, unit: 'ms', figure: { is: 'growth', atMost: 0.002 * IDLE_MS } },
        await idleRounds(both, run.share),
      );

    const client = createWinsClient({ address: JSON.parse(daemon.line).address });
    const apply = async (files) => {
      const plan = files.map((file) => ({ path: file, content: 'eA==', ...OWN }));
      const text = Buffer.from(JSON.stringify({ files: plan }));
      const answer = await client.call(planServiceDefinition.apply, { text, dryRun: false });
      if (!answer.succeeded) throw new Error('the plan has failed');
    };
    const filesBy = (write) => ({
      client: process.pid,
      work: medianTime(FILE_PLANS, () => timeOf(folder, write)),
    });
    await run.measure(
      { name: PLAN_OF_FILES, unit: 'ms', per: 'plan', figure: { is: 'ratio', atMost: 2 } },
      {
        'bare writes': filesBy(writeBare),
        wins: { ...filesBy(apply), daemon: daemon.child.pid },
      },
    );
    await client.close();

    const instruct = async () => {
      const before = String(api.data()['applied-checksum']);
      const took = await untilMade(folder, (file) => {
        const instructions = [{ name: 'first', command: '/usr/bin/touch', args: [file] }];
        api.update({ plan: JSON.stringify({ instructions }) });
      });
      await applied(api, before);
      return took;
    };
    const start = () => untilMade(folder, (file) => spawn('/usr/bin/touch', [file]));
    await run.measure(
      { name: INSTRUCTION, unit: 'ms', per: 'plan', figure: { is: 'value', atMost: 30 } },
      {
        'bare start': { work: medianTime(PLANS, start) },
        wins: { daemon: daemon.child.pid, work: medianTime(PLANS, instruct) },
      },
    );
    if (run.wants(PROBED)) await measureProbes({ run, api, pids: both });
    if (run.wants(AT_DEBUG)) await measureDebug({ run, programs, wins, folder, floor });
  } finally {
    await api.close();
  }
}

/** Measures probes that run every 5 s. Together they may use at most 0.6 % of a processor. */
async function measureProbes({ run, api, pids }) {
  const component = createServer((_request, response) => response.end('ok'));
  component.listen(0, '127.0.0.1');
  await once(component, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (component.address());
  const url = `http://127.0.0.1:${port}/healthz`;
  const probes = {};
  for (let index = 0; index < PROBES; index += 1) probes[`probe-${index}`] = { httpGet: { url } };
  const before = String(api.data()['applied-checksum']);
  api.update({ plan: JSON.stringify({ probes }) });
  await applied(api, before);
  run.add(
    { name: PROBED, unit: 'ms', figure: { is: 'growth', atMost: 0.006 * IDLE_MS } },
    await idleRounds(pids, run.share),
  );
  component.close();
  component.closeAllConnections();
}

/** Debug logging may cost an idle daemon at most 0.1 % of a processor. */
async function measureDebug({ run, programs, wins, folder, floor }) {
  const config = path.join(folder, 'at-debug');
  const audit = { directory: path.join(folder, 'audit-at-debug') };
  const names = { listen: 'at_debug', proxy: 'at_debug_proxy' };
  writeFileSync(config, JSON.stringify({ ...names, debug: true, audit }), { mode: 0o600 });
  const daemon = await programs.start([wins, 'srv', 'app', 'run', '--config', config], (line) =>
    line.includes('"msg":"ready"'),
  );
  run.add(
    { name: AT_DEBUG, unit: 'ms', figure: { is: 'growth', atMost: 0.001 * IDLE_MS } },
    await idleRounds({ 'info level': floor, wins: daemon.child.pid }, run.share),
  );
}

function configOf(folder, api) {
  const below = (name) => path.join(folder, 'agent', name);
  mkdirSync(below(''), { mode: 0o700 });
  const connectionInfoFile = below('connection.json');
  const config = below('config');
  const systemagent = {
    remoteEnabled: true,
    connectionInfoFile,
    workDirectory: below('work'),
    appliedPlanDirectory: below('applied'),
    imagesDirectory: below('images'),
  };
  writeFileSync(connectionInfoFile, api.connectionInfo(), { mode: 0o600 });
  const audit = { directory: below('audit') };
  writeFileSync(
    config,
    JSON.stringify({ listen: 'planned', proxy: 'planned_proxy', audit, systemagent }),
  );
  chmodSync(config, 0o600);
  return config;
}

async function applied(api, before) {
  for (;;) {
    const checksum = api.data()['applied-checksum'];
    if (checksum !== undefined && String(checksum) !== before) return;
    await delay(5);
  }
}

/** Measures the processor time that each process uses, in ms. All are measured at the same time. */
export async function idleRounds(pids, share) {
  const ways = Object.keys(pids).map((name) => ({ name, rounds: noRounds() }));
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = mapValues(pids, processorMs);
    await delay((IDLE_MS / ROUNDS) * share);
    for (const { name, rounds } of ways) {
      const ms = processorMs(pids[name]) - before[name];
      rounds.push({ value: (ms * ROUNDS) / share });
    }
  }
  return ways;
}

let folders = 0;

/** Returns the time in ms to write the files of a new folder. */
async function timeOf(folder, write) {
  const location = path.join(folder, `files-${(folders += 1)}`);
  mkdirSync(location);
  const start = performance.now();
  await write(Array.from({ length: FILES }, (_, index) => path.join(location, `${index}`)));
  return performance.now() - start;
}

async function writeBare(files) {
  for (const file of files) await writeFile(file, 'x', { mode: 0o600 });
}

/** Returns the time in ms until a file appears. */
async function untilMade(folder, ask) {
  const location = path.join(folder, `made-${(folders += 1)}`);
  mkdirSync(location);
  const watcher = watch(location);
  const made = once(watcher, 'change');
  const start = performance.now();
  ask(path.join(location, 'made'));
  await made;
  const took = performance.now() - start;
  watcher.close();
  return took;
}
