import { execFileSync } from 'node:child_process';
import { startProgram, type RunningProgram } from '../testing/built-program.js';
import { NSENTER, routesOf, type HostInNetwork, type NetworkStatus } from './host-in-network.js';

/** A network namespace that acts as a container. A veth pair connects it to the host's bridge. */
export class Container implements AsyncDisposable {
  readonly #program: RunningProgram;

  private constructor(program: RunningProgram) {
    this.#program = program;
  }

  static async start(
    host: Pick<HostInNetwork, 'run' | 'ip'>,
    addresses: readonly string[],
    {
      gateway,
      bridge = 'wins-subnet',
    }: { readonly gateway?: string; readonly bridge?: string } = {},
  ): Promise<Container> {
    const script = 'echo in; exec sleep 600';
    const program = host.run('/usr/bin/unshare', '--net', '/bin/sh', '-c', script);
    await program.printed('in');
    const container = new Container(program);
    const { pid } = program.child;
    const cable = `c${pid}`;
    host.ip(`link add ${cable} type veth peer name eth0 netns ${pid}`);
    if (bridge !== '') host.ip(`link set ${cable} master ${bridge}`);
    host.ip(`link set ${cable} up`);
    container.ip('link set lo up');
    for (const address of addresses) container.ip(`addr add ${address} dev eth0`);
    container.ip('link set eth0 up');
    if (gateway !== undefined) container.ip(`route add default via ${gateway}`);
    return container;
  }

  /** Name of the host's end of the veth pair. */
  get cable(): string {
    return `c${this.#program.child.pid}`;
  }

  ip(words: string): string {
    const args = [...this.#inNetwork, '/sbin/ip', ...words.split(' ')];
    return execFileSync(NSENTER, args, { encoding: 'utf8' });
  }

  run(...command: readonly string[]) {
    return startProgram(NSENTER, [...this.#inNetwork, ...command], {});
  }

  get #inNetwork(): readonly string[] {
    return ['--target', String(this.#program.child.pid), '--net'];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#program.child.kill('SIGKILL');
    await this.#program.outcome;
  }
}

export const cluster = ['10.42.0.0/16'];
export const ownOf = (number: number) => ({ cluster, subnet: `10.42.${number}.0/24` });
export const peer = (number: number, via: string) => ({ subnet: `10.42.${number}.0/24`, via });
type Runner = Pick<HostInNetwork, 'run'>;
const node = (runner: Runner, script: string) => runner.run(process.execPath, '-e', script);

/** Answers "hello" to each TCP connection; prints and echoes each datagram. */
const LISTENER = `
require("net").createServer((socket) => socket.end("hello")).listen(7070, "0.0.0.0", () => {
  const udp = require("dgram").createSocket("udp4");
  udp.on("message", (text, { port, address }) => {
    console.log("got " + text);
    udp.send(text, port, address, () => {});
  });
  udp.bind(7070, "0.0.0.0", () => console.log("listens"));
});`;

export async function listen(runner: Runner) {
  const program = node(runner, LISTENER);
  await program.printed('listens');
  return {
    /** Waits for the datagram `last`; returns all datagrams until then. */
    got: async (last: string): Promise<readonly string[]> => {
      await program.printed(`got ${last}`);
      return Array.from(program.stdout().matchAll(/^got (.*)$/gm), ([, text = '']) => text);
    },
    [Symbol.asyncDispose]: async () => {
      program.child.kill();
      await program.outcome;
    },
  };
}

export async function dial(
  runner: Runner,
  ...addresses: readonly string[]
): Promise<readonly string[]> {
  const script = `
const { connect } = require("net");
(async () => {
  for (const address of ${JSON.stringify(addresses)}) console.log(await new Promise((resolve) =>
    connect(7070, address).on("error", (error) => resolve(error.code)).on("data", (data) => resolve(String(data)))));
  process.exit();
})();`;
  const { stdout } = await node(runner, script).outcome;
  return stdout.toString().trim().split('\n');
}

/**
 * Asks UDP port 7070 of each address, first with an unconnected socket, then with a connected one, as resolvers do. Returns the addresses that the
 * answers came from. The system drops an answer to a connected socket unless it comes from the address that was asked.
 */
export async function answerers(
  runner: Runner,
  ...addresses: readonly string[]
): Promise<readonly string[]> {
  const script = `
const { createSocket } = require("dgram");
const ask = (address, isConnected) => new Promise((resolve) => {
  const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
  const send = () => isConnected ? socket.send("x") : socket.send("x", 7070, address);
  const begin = () => { send(); again = setInterval(send, 100); };
  let again;
  socket.on("error", () => {}).on("message", (_text, from) => {
    clearInterval(again);
    socket.close();
    resolve(from.address);
  });
  if (isConnected) socket.connect(7070, address, begin); else begin();
});
(async () => {
  for (const address of ${JSON.stringify(addresses)})
    console.log(await ask(address, false), await ask(address, true));
})();`;
  const { stdout } = await node(runner, script).outcome;
  return stdout.toString().trim().split('\n');
}

/** Sends numbered datagrams: one every 5 ms, once the first is echoed. */
export async function flowing(runner: Runner, address: string) {
  const program = node(
    runner,
    `
const udp = require("dgram").createSocket("udp4");
const missing = new Set();
let sent = 0;
const next = () => { missing.add(String(sent)); udp.send(String(sent++)); };
udp.once("connect", next).once("message", () => {
  console.log("flows");
  const timer = setInterval(next, 5);
  process.on("SIGTERM", () => { clearInterval(timer); udp.send("end"); });
}).on("message", (text) => {
  missing.delete(String(text));
  if (String(text) === "end") { console.log(JSON.stringify({ sent, missing: [...missing] })); process.exit(); }
}).connect(7070, ${JSON.stringify(address)});`,
  );
  await program.printed('flows');
  return {
    /** Returns the datagrams that were not echoed. */
    end: async (): Promise<readonly string[]> => {
      program.child.kill();
      const [, text = ''] = (await program.outcome).stdout.toString().trim().split('\n');
      const { sent, missing } = JSON.parse(text) as { sent: number; missing: readonly string[] };
      if (sent < 10) throw new Error(`only ${sent} were sent`);
      return missing;
    },
    [Symbol.asyncDispose]: async () => {
      program.child.kill('SIGKILL');
      await program.outcome;
    },
  };
}

/** Sends the datagrams in order. If a later one arrives, a missing earlier one was dropped. */
export async function send(
  runner: Runner,
  ...all: readonly (readonly [address: string, text: string])[]
) {
  const script = `
const udp = require("dgram").createSocket("udp4");
const all = ${JSON.stringify(all)};
const next = () => { const one = all.shift(); if (one) udp.send(one[1], 7070, one[0], next); else udp.close(); };
next();`;
  await node(runner, script).outcome;
}

export const networkOf = (host: Pick<HostInNetwork, 'ip'>) => [
  ...routesOf(host),
  host.ip('rule show'),
  host.ip('-o link show').replaceAll(/state \S+/g, ''),
  host
    .ip('netconf show')
    .split('\n')
    .filter((line) => /^inet /.test(line))
    .sort()
    .join('\n'),
];
export const standings = ({ routes }: NetworkStatus) =>
  routes.map(({ kind, destination, state, code }) =>
    [kind, destination, state, code].join(' ').trim(),
  );

/** Removes MAC addresses and interface numbers, because a new bridge changes them. */
export function withoutMac(text: string): string {
  return text.replaceAll(/link\/ether \S+/g, '').replaceAll(/^\d+: /gm, '');
}
