// The rows of the agent: a daemon that follows a Secret against one that does not, bare writes and a bare start of a program.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const FILES = 500;
const FILE_PAIRS = 7;
const PLANS = 31;
const IDLE_MS = 60_000;
/** Of a processor; what /proc counts. */
const TICK_MS = 10;
const OWN = { uid: -1, gid: -1 };

/** Measures and reports every row. `floor` is a daemon without an agent that has nothing to do. */
export async function measureAgent({ programs, wins, folder, floor, residentMegabytes, ...rest }) {
  const { pairs, report } = rest;
  // Built by now: the module is read when it is wanted.
  const { startApiServer } = await import('@wins/system-agent/testing');
  const { createWinsClient } = await import('@wins/wins-api');
  const { planServiceDefinition } = await import('@wins/wins-api/raw');
  const api = await startApiServer();
  try {
    api.create({ plan: '{}' });
    const config = configOf(folder, api);
    const daemon = await programs.start([wins, 'srv', 'app', 'run', '--config', config], (line) =>
      line.includes('"msg":"ready"'),
    );
    await applied(api, undefined);

    const idle = { floor: residentMegabytes(floor), subject: residentMegabytes(daemon.child) };
    const growth = idle.subject - idle.floor;
    const grown = `+${growth.toFixed(1)} MB`;
    report('idle agent, memory', 'MB', idle, grown, 'at most +25 MB', growth <= 25);

    const used = await processorTimes({ floor, subject: daemon.child });
    const percent = ((used.subject - used.floor) / IDLE_MS) * 100;
    report(
      'idle agent, 60 s',
      'ms',
      used,
      `${percent.toFixed(2)} %`,
      'below 0.20 %',
      percent < 0.2,
    );

    const client = createWinsClient({ address: JSON.parse(daemon.line).address });
    const writes = await pairs(
      FILE_PAIRS,
      () => timeOf(folder, writeBare),
      () =>
        timeOf(folder, async (files) => {
          const plan = files.map((file) => ({ path: file, content: 'eA==', ...OWN }));
          const Text = Buffer.from(JSON.stringify({ files: plan }));
          const answer = await client.call(planServiceDefinition.apply, { Text, DryRun: false });
          if (!answer.Succeeded) throw new Error('the plan has failed');
        }),
    );
    await client.close();
    const { ratio } = writes;
    report(`plan, ${FILES} files`, 'ms', writes, ratio.toFixed(2), 'at most 2.00', ratio <= 2);

    const starts = await pairs(
      PLANS,
      () => untilMade(folder, (file) => spawn('/usr/bin/touch', [file])),
      async () => {
        const before = String(api.data()['applied-checksum']);
        const took = await untilMade(folder, (file) => {
          const instructions = [{ name: 'first', command: '/usr/bin/touch', args: [file] }];
          api.update({ plan: JSON.stringify({ instructions }) });
        });
        await applied(api, before);
        return took;
      },
    );
    const took = `${starts.subject.toFixed(1)} ms`;
    report('Secret to instruction', 'ms', starts, took, 'at most 30 ms', starts.subject <= 30);
  } finally {
    await api.close();
  }
}

function configOf(folder, api) {
  const below = (name) => path.join(folder, 'agent', name);
  mkdirSync(below(''), { mode: 0o700 });
  const connectionInfoFile = below('connection.json');
  const config = below('config');
  const systemagent = {
    ...{ remoteEnabled: true, connectionInfoFile, workDirectory: below('work') },
    ...{ appliedPlanDirectory: below('applied'), imagesDirectory: below('images') },
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

/** Resolves once the Secret says that another plan than this was applied. */
async function applied(api, before) {
  for (;;) {
    const checksum = api.data()['applied-checksum'];
    if (checksum !== undefined && String(checksum) !== before) return;
    await delay(5);
  }
}

/** What each of some processes took of the processors within the same minute, in ms. */
async function processorTimes(processes) {
  const entries = Object.entries(processes);
  const before = entries.map(([, child]) => processorTime(child));
  await delay(IDLE_MS);
  return Object.fromEntries(
    entries.map(([name, child], index) => [name, processorTime(child) - before[index]]),
  );
}

function processorTime({ pid }) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

let folders = 0;

/** How long it takes to write the files of a new folder, in ms. */
async function timeOf(folder, write) {
  const place = path.join(folder, `files-${(folders += 1)}`);
  mkdirSync(place);
  const start = performance.now();
  await write(Array.from({ length: FILES }, (_, index) => path.join(place, `${index}`)));
  return performance.now() - start;
}

async function writeBare(files) {
  for (const file of files) await writeFile(file, 'x', { mode: 0o600 });
}

/** How long it takes until a file is there that a program was asked to make, in ms. */
async function untilMade(folder, ask) {
  const place = path.join(folder, `made-${(folders += 1)}`);
  mkdirSync(place);
  const watcher = watch(place);
  const made = once(watcher, 'change');
  const start = performance.now();
  ask(path.join(place, 'made'));
  await made;
  const took = performance.now() - start;
  watcher.close();
  return took;
}
