// Rows of npm run bench:attack: the effect of each attack on a fresh daemon, during the attack and afterwards.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const ATTACK_MS = 4000;
/** Pause after the attack, before memory is measured. */
const REST_MS = 10_000;
/** Pause of the harmless client between calls, so that this client does not overload the daemon. */
const CALL_EVERY_MS = 4;
const WARM_CALLS = 300;
/** Number of connections that the daemon must serve together after the attack. */
const NEWCOMERS = 64;
const PLACES_LIMIT_MS = 30_000;
const UNSHARE = '/usr/bin/unshare';

/** Limits of an attack's effects. Memory is the growth since the daemon was idle. */
export const TARGET = {
  p99Ms: 50,
  duringMib: 64,
  afterMib: 20,
  slotsMs: 5000,
  // Limits for a client in another container.
  firstMs: 250,
  containedP99Ms: 100,
};

const here = (name) => (daemon) => [
  path.join(import.meta.dirname, 'attacks', name),
  daemon.address,
  daemon.port,
  daemon.program,
];
const fixtures = path.resolve(import.meta.dirname, '../../apps/wins-e2e/src/fixtures/programs');
const ofTests = (name, more) => (daemon) => [
  path.join(fixtures, name),
  daemon.tunnelAddress,
  ...more(daemon),
];
/** @type {(name: string, ...more: unknown[]) => (daemon: any) => unknown[]} */
const ofCalls =
  (name, ...more) =>
  (daemon) => [path.join(fixtures, name), daemon.address, ...more];
/**
 * Number, description, program arguments, and number of containers (default 1) of each attack.
 *
 * @type {[string, string, ((daemon: any) => unknown[]) | undefined, number?][]}
 */
export const ATTACKS = [
  ['', 'none', undefined],
  ['A42', 'connections that leave amid a call', here('leaving-connections.mjs')],
  ['A44', 'reflection never read', here('unread-reflection.mjs')],
  ['A45', 'requests without their last octet', here('unfinished-requests.mjs')],
  ['A46', 'names watched and let go', here('watched-names.mjs')],
  ['A48', 'Connects, 4 tunnels', ofTests('connect-flood.cjs', ({ port }) => [4, port])],
  ['A49', 'silent tunnels', ofTests('silent-connections.cjs', () => [200])],
  ['A50', 'Starts of 140,000 variables', here('large-starts.mjs')],
  ['A51', 'Lists, read and unread', here('unread-lists.mjs')],
  ['A52', 'metadata that is no text', here('evil-metadata.mjs')],
  ['A53', 'packed requests', here('packed-requests.mjs')],
  ['A57', 'names long to decode', here('long-names.mjs')],
  ...[1, 2, 3, 8].flatMap((containers) => [
    /** @type {[string, string, (daemon: any) => unknown[], number]} */
    (['A62', 'Info, 60 connections', ofCalls('many-infos.cjs', 60), containers]),
    /** @type {[string, string, (daemon: any) => unknown[], number]} */
    (['A45', 'unfinished requests', ofCalls('unfinished-starts.cjs', 250, 200_000), containers]),
  ]),
];

/**
 * @param start - Starts a daemon that keeps its files in the given folder. Resolves with the daemon's process, the addresses of both its pipes,
 * and the port and the program that its config allows.
 * @param createWinsClient - From the built library.
 */
export async function measureAttack(
  [attack, what, argumentsOf, containers = 1],
  folder,
  start,
  createWinsClient,
) {
  mkdirSync(folder, { recursive: true });
  const daemon = await start(folder);
  const { pid } = daemon.child;
  const other = createWinsClient({ address: daemon.address });
  for (let call = 0; call < WARM_CALLS; call += 1) await other.info();
  const idle = memory(pid, 'VmRSS');

  const attackers = [];
  const endAttack = () => {
    for (const attacker of attackers) attacker.kill('SIGKILL');
  };
  process.once('exit', endAttack);
  while (argumentsOf && attackers.length < containers)
    await play(argumentsOf(daemon), (child) => attackers.push(child));
  const processorBefore = processorMs(pid);
  const observed = observe(daemon.address);
  const times = await callFor(ATTACK_MS, () => other.info());
  const contained = await observed;
  const processor = (processorMs(pid) - processorBefore) / ATTACK_MS;
  const during = memory(pid, 'VmHWM') - idle;
  const ends = attackers.map((attacker) => once(attacker, 'exit'));
  endAttack();
  await Promise.all(ends);
  process.off('exit', endAttack);
  const slotsMs = await untilSlots(daemon, createWinsClient);
  await pause(REST_MS);
  const after = memory(pid, 'VmRSS') - idle;
  const survived = daemon.child.exitCode === null;
  await other.close();
  daemon.child.kill('SIGTERM');
  await once(daemon.child, 'exit');

  const p99 = quantile(times, 0.99);
  const containedP99 = quantile(contained.times, 0.99);
  const isGood =
    survived &&
    p99 <= TARGET.p99Ms &&
    contained.firstMs <= TARGET.firstMs &&
    containedP99 <= TARGET.containedP99Ms &&
    during <= TARGET.duringMib &&
    after <= TARGET.afterMib &&
    slotsMs <= TARGET.slotsMs;
  return {
    attack,
    what,
    containers: argumentsOf ? containers : 0,
    'first call, at most 250': `${contained.firstMs.toFixed(0)} ms`,
    'p99 of another container, at most 100': `${containedP99.toFixed(1)} ms`,
    'Info p50': `${quantile(times, 0.5).toFixed(1)} ms`,
    'p99, at most 50': `${p99.toFixed(1)} ms`,
    'memory, at most +64': grown(during),
    'after 10 s, at most +20': grown(after),
    'slots free again, at most 5000': `${slotsMs.toFixed(0)} ms`,
    'its processor': `${(processor * 100).toFixed(0)} %`,
    verdict: isGood ? 'met' : 'MISSED',
  };
}

/** Resolves once the attack is in progress. */
async function play(program, started) {
  const child = spawnContained(program);
  started(child);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${program[0]} ended with ${code}`);
  });
  await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => undefined);
  return child;
}

function spawnContained(program) {
  const command = [process.execPath, ...program.map(String)];
  const contained = spawnSync(UNSHARE, ['--mount', '/bin/true'], { stdio: 'ignore' }).status === 0;
  const [file, ...rest] = contained ? [UNSHARE, '--mount', ...command] : command;
  return spawn(file, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Runs a harmless client in another container during the attack; returns its measurements. */
async function observe(address) {
  const program = path.join(import.meta.dirname, 'attacks', 'observer.mjs');
  const child = spawnContained([program, address, ATTACK_MS]);
  const parts = await child.stdout.toArray();
  return JSON.parse(Buffer.concat(parts).toString());
}

async function callFor(durationMs, call) {
  const times = [];
  const end = performance.now() + durationMs;
  while (performance.now() < end) {
    const start = performance.now();
    await call();
    times.push(performance.now() - start);
    await pause(CALL_EVERY_MS);
  }
  return times;
}

/** Returns the time in ms until both pipes serve new connections; Infinity if they do not in time. */
async function untilSlots({ address, tunnelAddress }, createWinsClient) {
  const start = performance.now();
  while (performance.now() - start < PLACES_LIMIT_MS) {
    const clients = Array.from({ length: NEWCOMERS }, () => createWinsClient({ address }));
    const asked = await Promise.allSettled(clients.map((client) => client.info()));
    await Promise.all(clients.map((client) => client.close()));
    const isServed = asked.every(({ status }) => status === 'fulfilled');
    if (isServed && (await opensTunnel(tunnelAddress))) return performance.now() - start;
    await pause(100);
  }
  return Infinity;
}

async function opensTunnel(address) {
  const socket = connect(address).on('error', () => undefined);
  socket.write(
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nrancher-wins-cli-proxy: x\r\n\r\n',
  );
  const answered = new Promise((resolve) => {
    socket.once('data', (octets) => resolve(octets.toString('latin1').startsWith('HTTP/1.1 101')));
    socket.once('close', () => resolve(false));
  });
  const isOpen = await answered;
  socket.destroy();
  return isOpen;
}

function memory(pid, name) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
}

/** User and system time; Linux counts in steps of 10 ms. */
function processorMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function grown(mebibytes) {
  return `${mebibytes < 0 ? '' : '+'}${mebibytes.toFixed(0)} MiB`;
}

function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  // If no call has finished, the first one hung: its time is infinite.
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Infinity;
}
