// Benchmarks of metrics: a daemon with metrics against a daemon without, and the event-loop time of a scrape in a busy daemon.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { download, MEGABYTE, rate, startProgram } from './load.mjs';
import { eventLoopMs, mapValues, residentMebibytes } from './costs.mjs';
import { medianCall } from './measure.mjs';
import { freePort } from '../free-port.mjs';

const RUNS = 256;
const STREAMS = 1000;
const BYTES = 500 * MEGABYTE;
/** Interval of scrapes in close succession. The daemon measures its runs at most once a second, so one in ten scrapes includes a measurement. */
const CLOSE_MS = 110;
const CLOSE_SCRAPES = 20;
const APART_MS = 1100;
const APART_SCRAPES = 5;
const WARM_SCRAPES = 20;

const MEMORY = 'metrics, memory';
const INFO = 'metrics, Info, median';
const STREAM = 'metrics, 8 streams down';
const SCRAPE = `scrape, ${RUNS} runs and ${STREAMS} streams`;

const MEASURING = `scrape that measures ${RUNS} runs`;

export const metricsRows = [MEMORY, INFO, STREAM, SCRAPE, MEASURING];

export async function measureMetrics({ run, programs, wins, folder }) {
  const target = await startProgram('target');
  programs.own(target.child);
  const tools = path.join(folder, 'metrics-tools');
  mkdirSync(tools);
  const processPaths = Array.from({ length: RUNS }, (_, index) => {
    const file = path.join(tools, `tool-${index}`);
    writeFileSync(file, '#!/bin/sh\nexec sleep 600\n');
    chmodSync(file, 0o755);
    return file;
  });
  const { createWinsClient } = await import('@wins/wins-api');
  const metricsPort = await freePort();
  const begin = async (name, more) => {
    const config = path.join(folder, name);
    const white_list = { processPaths, proxyPorts: [target.port] };
    writeFileSync(
      config,
      JSON.stringify({ listen: name, proxy: `${name}_proxy`, white_list, ...more }),
    );
    chmodSync(config, 0o600);
    const daemon = await programs.start([wins, 'srv', 'app', 'run', '--config', config], (line) =>
      line.includes('"msg":"ready"'),
    );
    const port = await freePort();
    const words = ['--publish', `TCP:${port}:${target.port}`, '--proxy', `${name}_proxy`];
    const proxy = await programs.start([wins, 'cli', 'proxy', ...words], (line) =>
      line.includes('the tunnel is ready'),
    );
    const { address } = JSON.parse(daemon.line);
    const client = createWinsClient({ address });
    return { pid: daemon.child.pid, proxy: proxy.child.pid, address, client, port };
  };
  const off = await begin('unmeasured', {});
  const on = await begin('measured', { metrics: { listen: `127.0.0.1:${metricsPort}` } });
  const both = { 'without metrics': off, wins: on };
  const scrape = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  for (let count = 0; count < WARM_SCRAPES; count += 1) await scrape();

  run.addOnce(
    { name: MEMORY, unit: 'MiB', figure: { is: 'growth', atMost: 12 } },
    mapValues(both, ({ pid }) => residentMebibytes(pid)),
  );
  await run.measure(
    { name: INFO, unit: 'ms', per: 'call', figure: { is: 'ratio', atMost: 1.02 } },
    mapValues(both, ({ pid, client }) => ({
      client: process.pid,
      daemon: pid,
      work: medianCall(() => client.info()),
    })),
  );
  await run.measure(
    { name: STREAM, unit: 'MB/s', per: 'GB', figure: { is: 'ratio', atLeast: 0.98 } },
    mapValues(both, ({ pid, proxy, port }) => ({
      client: proxy,
      daemon: pid,
      work: async (share) => {
        const bytes = BYTES * share;
        return { units: bytes / 1e9, value: await rate(bytes, 8, port, download) };
      },
    })),
  );
  if (run.wants(SCRAPE) || run.wants(MEASURING))
    await measureBusy({ run, on, processPaths, scrape, createWinsClient });
  for (const { client } of [off, on]) await client.close();
}

/** Measures the extra event-loop time of a scrape in a busy daemon, in ms. */
async function measureBusy({ run, on, processPaths, scrape, createWinsClient }) {
  // Two clients, because a connection may have only 128 runs.
  const clients = [0, 1].map(() => createWinsClient({ address: on.address }));
  const stopping = processPaths.map(() => new AbortController());
  const runs = processPaths.map((file, index) =>
    clients[index % 2]
      .run({ path: file, signal: stopping[index].signal })
      .then(({ stdout, stderr, exit }) => (stdout.resume(), stderr.resume(), exit))
      .catch(() => undefined),
  );
  const sockets = Array.from({ length: STREAMS }, () => {
    const socket = connect(on.port, '127.0.0.1').on('error', () => undefined);
    socket.write('e');
    return socket;
  });
  const isBusy = (text) =>
    text.includes(`wins_runs{state="running"} ${RUNS}\n`) &&
    text.includes(`wins_tunnel_streams ${STREAMS}\n`);
  while (!isBusy(await scrape())) await delay(100);
  for (const { name, atMost, scrapes, betweenMs } of [
    { name: SCRAPE, atMost: 5, scrapes: CLOSE_SCRAPES, betweenMs: CLOSE_MS },
    { name: MEASURING, atMost: 50, scrapes: APART_SCRAPES, betweenMs: APART_MS },
  ]) {
    const spent = async (action) => {
      const before = eventLoopMs(on.pid);
      for (let count = 0; count < scrapes; count += 1) {
        await delay(betweenMs);
        await action();
      }
      return eventLoopMs(on.pid) - before;
    };
    const rounds = [];
    for (let round = 0; round < run.rounds && run.wants(name); round += 1) {
      const idleMs = await spent(() => undefined);
      rounds.push({ value: ((await spent(scrape)) - idleMs) / scrapes });
    }
    run.add({ name, unit: 'ms', figure: { is: 'value', atMost } }, [{ name: 'wins', rounds }]);
  }
  for (const socket of sockets) socket.destroy();
  for (const each of stopping) each.abort();
  await Promise.all(runs);
  for (const client of clients) await client.close();
}
