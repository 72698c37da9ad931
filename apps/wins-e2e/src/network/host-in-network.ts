import { execFileSync, type ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { startProgram, type Outcome } from '../testing/built-program.js';
import { commandValues } from '../testing/commands/command-json.js';
import { Daemon, type LogRecord } from '../testing/daemon.js';
import { startWinsInNetwork } from '../testing/network-namespace.js';
import { WINS, Workspace } from '../testing/workspace.js';

export const NSENTER = '/usr/bin/nsenter';

/** Output of `wins srv network status -o json`, as far as specs read it. */
export interface NetworkStatus {
  readonly on: boolean;
  readonly state: string;
  readonly down: boolean;
  readonly routes: readonly {
    readonly destination: string;
    readonly state: string;
    readonly kind: string;
    readonly code: string;
  }[];
  readonly orphans: readonly string[];
  readonly problems: readonly string[];
}

/** A host with a daemon in its own network: wins0 has 192.0.2.2, and the gateway is 192.0.2.1. */
export class HostInNetwork implements AsyncDisposable {
  readonly workspace = new Workspace();
  #daemon: Daemon | undefined;

  /** @param more - Other sections of the config. */
  static async start(
    hostNetwork: object | undefined,
    setup = '',
    more: (workspace: Workspace) => object = () => ({}),
  ): Promise<HostInNetwork> {
    const host = new HostInNetwork();
    host.configure(hostNetwork, more(host.workspace));
    host.#daemon = Daemon.of(startWinsInNetwork(host.#words, host.workspace.environment, setup));
    await host.daemon.ready();
    return host;
  }

  get daemon(): Daemon {
    if (this.#daemon === undefined) throw new Error('the daemon was not started yet');
    return this.#daemon;
  }

  get #words(): readonly string[] {
    return ['srv', 'app', 'run', '--config', this.workspace.path('config')];
  }

  get #inNetwork(): readonly string[] {
    return inNetworkOf(this.daemon.child);
  }

  configure(hostNetwork: object | undefined, more: object = {}): void {
    this.workspace.config([], hostNetwork === undefined ? more : { ...more, hostNetwork });
  }

  ip(words: string): string {
    const args = [...this.#inNetwork, '/sbin/ip', ...words.split(' ')];
    return execFileSync(NSENTER, args, { encoding: 'utf8' });
  }

  routes(): readonly string[] {
    return routesOf(this);
  }

  run(...command: readonly string[]) {
    return startProgram(NSENTER, [...this.#inNetwork, ...command], {});
  }

  /** Runs `wins` in the host's network. If `wins` ran in another network, the daemon would mistake it for a container. */
  wins(...words: readonly string[]): Promise<Outcome> {
    const args = [...this.#inNetwork, process.execPath, WINS, ...words];
    return startProgram(NSENTER, args, this.workspace.environment).outcome;
  }

  async network<Answer = NetworkStatus>(...words: readonly string[]): Promise<Answer> {
    const on = ['--config', this.workspace.path('config'), '-o', 'json'];
    const { stdout, stderr } = await this.wins('srv', 'network', ...words, ...on);
    if (stdout.length === 0) throw new Error(stderr);
    const [answer] = commandValues(`srv network ${words[0]}`, [JSON.parse(stdout.toString())]);
    return answer as Answer;
  }

  async logs(wanted: (record: LogRecord) => boolean, action: () => unknown): Promise<LogRecord> {
    const { length } = this.daemon.log;
    await action();
    return await this.daemon.logged(wanted, length);
  }

  async killAndStartAgain(meanwhile: () => void = () => undefined): Promise<void> {
    const before = this.daemon;
    // `holder` keeps the network alive while no daemon runs in it.
    const holder = this.run('/bin/sh', '-c', 'echo in; exec sleep 600');
    await holder.printed('in');
    before.child.kill('SIGKILL');
    await before.outcome;
    meanwhile();
    const args = [...inNetworkOf(holder.child), process.execPath, WINS, ...this.#words];
    this.#daemon = Daemon.of(startProgram(NSENTER, args, this.workspace.environment));
    await this.daemon.ready();
    holder.child.kill('SIGKILL');
    await holder.outcome;
  }

  /** The daemon records its routes in this file. */
  get recordFile(): string {
    const folder = readdirSync(this.workspace.runtimeDirectory).find((name) =>
      /^rancher_wins\b.*\.state$/.test(name),
    );
    return this.workspace.path('run', folder ?? '', 'host-network.json');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#daemon?.[Symbol.asyncDispose]();
    this.workspace[Symbol.dispose]();
  }
}

export function routesOf(host: Pick<HostInNetwork, 'ip'>): readonly string[] {
  return host
    .ip('-4 route show table main')
    .split('\n')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .filter((line) => line !== '')
    .sort();
}

export function inNetworkOf({ pid }: ChildProcess): readonly string[] {
  return ['--target', String(pid), '--net', '--mount'];
}

/** Connects two hosts by a cable with one address at each end. */
export function connect(
  one: HostInNetwork,
  address: string,
  other: HostInNetwork,
  otherAddress: string,
  cable = 'uplink',
): void {
  const { pid } = other.daemon.child;
  one.ip(`link add ${cable} type veth peer name ${cable} netns ${pid}`);
  for (const [host, own] of [
    [one, address],
    [other, otherAddress],
  ] as const) {
    host.ip(`addr add ${own} dev ${cable}`);
    host.ip(`link set ${cable} up`);
  }
  // The kernel needs a moment to detect the other end of the cable.
  for (const host of [one, other]) while (!/ state UP /.test(host.ip(`link show dev ${cable}`)));
}
