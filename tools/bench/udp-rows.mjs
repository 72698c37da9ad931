// Benchmarks datagrams and relayed ports against a floor: a plain relay in one process, under the same load.
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../free-port.mjs';
import { idleRounds } from './agent-rows.mjs';
import { MEASURED } from './costs.mjs';
import { datagramEchoes, echoes, quantile, startProgram } from './load.mjs';

const TRIPS = 3000;
const RELAYED = 'relayed port, 64 B UDP echo, median';
const TUNNELLED = 'tunnel, 64 B UDP echo, median';
const IDLE = 'idle with 64 relayed ports, 60 s';
const PORTS = 64;
const BESIDE = 'relayed port, TCP echo under 8 bulk connections';
const BULK = 8;
const BESIDE_TRIPS = 300;
/** The bulk connections come from 127.0.0.1, as from another client. */
const OTHER_SOURCE = '127.0.0.2';
const row = { unit: 'ms', per: 'echo' };

const QUANTILES = { median: 0.5, p99: 0.99 };
const besideRow = (name) => `${BESIDE}, ${name}`;

export const udpRows = [RELAYED, TUNNELLED, IDLE, ...Object.keys(QUANTILES).map(besideRow)];

export async function measureUdp({ run, programs, wins, folder }) {
  const start = async (role, to) => {
    const { child, port } = await startProgram(role, { to, execArgv: MEASURED });
    programs.own(child);
    return { pid: child.pid, port };
  };
  const daemon = async (name, config) => {
    const file = path.join(folder, name);
    const names = { listen: name, proxy: `${name}_proxy` };
    writeFileSync(file, JSON.stringify({ ...names, ...config }));
    chmodSync(file, 0o600);
    const words = [wins, 'srv', 'app', 'run', '--config', file];
    const { child } = await programs.start(words, (line) => line.includes('"ready"'));
    return child;
  };
  const way = ({ pid, port }) => ({
    client: pid,
    work: async (share) => {
      const units = Math.ceil(TRIPS * share);
      return { units, value: quantile(await datagramEchoes(port, units), 0.5) / 1000 };
    },
  });
  const target = await start('udp-target');
  const relay = way(await start('udp-relay', target.port));
  if (run.wants(RELAYED)) {
    const port = await freePort();
    const { pid } = await daemon('relayed', {
      hostNetwork: { ports: [relayed(port, target.port)] },
    });
    const figure = { is: 'ratio', atMost: 1.5 };
    await run.measure(
      { name: RELAYED, ...row, figure },
      { 'one relay, UDP': relay, wins: way({ pid, port }) },
    );
  }
  for (const [name, q] of Object.entries(QUANTILES)) {
    if (!run.wants(besideRow(name))) continue;
    const to = (await start('target')).port;
    const plain = (await start('relay', to)).port;
    const port = await freePort();
    await daemon(`beside-${name}`, {
      hostNetwork: { ports: [{ ...relayed(port, to), proto: 'tcp' }] },
    });
    const under = (at) => ({ work: (share) => echoUnderBulk(at, share, q) });
    await run.measure(
      { name: besideRow(name), unit: 'ms', figure: { is: 'ratio', atMost: 1 } },
      { 'one relay, TCP': under(plain), wins: under(port) },
    );
  }
  if (run.wants(TUNNELLED)) {
    const { pid } = await daemon('datagrams', { white_list: { proxyUdpPorts: [target.port] } });
    const port = await freePort();
    const publish = ['--publish', `UDP:${port}:${target.port}`, '--proxy', 'datagrams_proxy'];
    const { child } = await programs.start([wins, 'cli', 'proxy', ...publish], (line) =>
      line.includes('the tunnel is ready'),
    );
    const tunnel = { ...way({ pid: child.pid, port }), daemon: pid };
    await run.measure(
      { name: TUNNELLED, ...row, figure: { is: 'ratio' } },
      { 'one relay, UDP': relay, wins: tunnel },
    );
  }
  if (run.wants(IDLE)) {
    const ports = [];
    while (ports.length < PORTS) ports.push(relayed(await freePort(), target.port));
    const pids = {
      'no port': (await daemon('portless', {})).pid,
      wins: (await daemon('idle', { hostNetwork: { ports } })).pid,
    };
    const figure = { is: 'growth', atMost: 60 };
    run.add({ name: IDLE, unit: 'ms', figure }, await idleRounds(pids, run.share));
  }
}

async function echoUnderBulk(port, share, q) {
  const readers = [];
  while (readers.length < BULK) readers.push(await startProgram('reader', { to: port }));
  const trips = await echoes(port, Math.ceil(BESIDE_TRIPS * share), OTHER_SOURCE);
  for (const { child } of readers) {
    child.kill();
    await once(child, 'exit');
  }
  return { value: quantile(trips, q) / 1000 };
}

function relayed(port, to) {
  const ends = { listen: `127.0.0.1:${port}`, to: `127.0.0.1:${to}` };
  return { proto: 'udp', ...ends, allowHost: true };
}
