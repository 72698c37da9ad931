import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { LogRecord } from '../testing/daemon.js';
import { mayMakeNetwork } from '../testing/network-namespace.js';
import { wherePossible } from '../testing/where-possible.js';
import { Container, dial, listen, ownOf, send } from './containers.js';
import { HostInNetwork, type NetworkStatus } from './host-in-network.js';

const inOwnNetwork = wherePossible(
  describe,
  mayMakeNetwork(),
  'routes to the hosts of a metadata service, since only root may make a network for them',
);

/** Imitates Rancher's metadata service. It answers from a JSON file, and exits when the file has the key `ends`. */
const SERVICE = `
const { createServer } = require('node:http');
const { readFileSync } = require('node:fs');
const known = () => JSON.parse(readFileSync(process.argv[1], 'utf8'));
setInterval(() => known().ends && process.exit(), 20);
createServer(({ url }, response) => {
  const { pathname, searchParams } = new URL(url, 'http://metadata');
  const answer = (value) => response.end(JSON.stringify(value));
  if (pathname.endsWith('/hosts')) return answer(known().hosts);
  if (pathname.endsWith('/containers')) return answer(known().containers);
  if (pathname.endsWith('/self/host/uuid')) return answer('h-a');
  const look = setInterval(() => {
    if (known().version === searchParams.get('value')) return;
    clearInterval(look);
    answer(known().version);
  }, 20);
}).listen(8080, '127.0.0.1');
`;
const LABELS = 'io.rancher.network.per_host_subnet';
const host = (uuid: string, subnet: string, routerIp: string) => ({
  uuid,
  environment_uuid: 'e1',
  labels: { [`${LABELS}.subnet`]: subnet, [`${LABELS}.router_ip`]: routerIp },
});
const A = host('h-a', '10.42.1.0/24', '192.0.2.2');
const B = host('h-b', '10.42.2.0/24', '192.0.2.7');
const C = host('h-c', '10.42.3.0/24', '192.0.2.8');
const LINE_B = '10.42.2.0/24 via 192.0.2.7 dev wins0 proto 199 metric 256';
const LINE_C = '10.42.3.0/24 via 192.0.2.8 dev wins0 proto 199 metric 256';
const METADATA = { hostUuid: 'h-a', environmentUuid: 'e1', address: '127.0.0.1:8080' };

interface StatusWithSources extends NetworkStatus {
  readonly sources: readonly object[];
  readonly ports: readonly {
    readonly proto: string;
    readonly listen: string;
    readonly to: string;
    readonly state: string;
  }[];
}
const isChange = ({ msg }: LogRecord): boolean => msg === 'routes of the host are changed';
const isBare = ({ msg, applied }: LogRecord): boolean =>
  msg === 'the network of the host' && applied === undefined;
const isSource =
  (state: string) =>
  (record: LogRecord): boolean =>
    record.msg === 'a source of other hosts' && record['state'] === state;

inOwnNetwork('the hosts of a metadata service', () => {
  it('get routes, which go when the hosts leave, and stay when the service or the daemon ends', async () => {
    using service = new Service();
    const { know } = service;
    know('v1', { hosts: [A, B, C, { ...C, uuid: 7 }] });
    await using one = await HostInNetwork.start({ metadata: METADATA }, service.command);
    const { daemon } = one;
    await daemon.logged(isSource('current'));
    const status = await one.network<StatusWithSources>('apply');
    expect(status).toMatchObject({
      state: 'settled',
      problems: [],
      routes: [
        { destination: '10.42.2.0/24', state: 'applied', peer: 'h-b' },
        { destination: '10.42.3.0/24', state: 'applied', peer: 'h-c' },
      ],
      sources: [
        {
          source: 'metadata',
          state: 'current',
          version: 'v1',
          count: 2,
          skippedCount: 1,
          skipped: [{ id: '', code: 'badId' }],
        },
      ],
    });
    expect(one.routes()).toEqual(expect.arrayContaining([LINE_B, LINE_C]));

    const shown = await one.wins(
      'srv',
      'network',
      'status',
      '--config',
      one.workspace.path('config'),
    );
    expect(shown.stdout.toString()).toMatch(
      /applied 10\.42\.2\.0\/24 via .* to h-b\n[^]* host network {2}metadata: 2 other hosts\n/,
    );

    await one.logs(isChange, () => know('v2', { hosts: [A, B] }));
    await one.network('apply');
    expect(one.routes()).toContain(LINE_B);
    expect(one.routes()).not.toContain(LINE_C);

    await one.logs(isSource('stale'), () => know('v3', { ends: true }));
    expect(one.routes()).toContain(LINE_B);
    await one.killAndStartAgain();
    await one.daemon.logged(isSource('stale'));
    expect(await one.network<StatusWithSources>('apply')).toMatchObject({
      state: 'settled',
      sources: [{ state: 'stale', count: 1 }],
    });
    expect(one.routes()).toContain(LINE_B);
    const doctor = await one.wins('doctor', '--config', one.workspace.path('config'));
    expect(doctor.stdout.toString()).toMatch(
      /metadata: 1 other host kept, and it has not answered/,
    );

    one.configure(undefined);
    await one.logs(isBare, () =>
      one.wins('srv', 'config', 'reload', '--allow-drop', 'hostNetwork'),
    );
    expect(one.routes()).not.toContain(LINE_B);
  });

  it('have the ports of running containers relayed, but none that leads elsewhere or is taken', async () => {
    using service = new Service();
    const web = container('c-1', '10.42.1.10', '0.0.0.0:7070:7070', '0.0.0.0:7070:7070/udp');
    const greedy = container(
      'c-0',
      '10.42.1.11',
      '0.0.0.0:7070:80',
      '0.0.0.0:3389:80',
      '0.0.0.0:0:80',
    );
    const strange = ['127.0.0.1', '10.42.1.1', '192.0.2.9', '10.42.2.10'].map((address, index) =>
      container(`c-${index + 2}`, address, `0.0.0.0:${8081 + index}:80`),
    );
    service.know('v1', { hosts: [A], containers: [web] });
    const metadata = { ...METADATA, ports: true };
    await using host = await HostInNetwork.start({ ...ownOf(1), metadata }, service.command);
    await host.network('apply');
    await using running = await Container.start(host, ['10.42.1.10/24'], { gateway: '10.42.1.1' });
    await using inside = await listen(running);
    const ports = async () =>
      (await host.network<StatusWithSources>('status')).ports.map(({ proto, listen, to, state }) =>
        [proto, listen, to, state].join(' '),
      );
    const relayed = [
      'tcp 0.0.0.0:7070 10.42.1.10:7070 listening',
      'udp 0.0.0.0:7070 10.42.1.10:7070 listening',
    ];
    while ((await ports()).join() !== relayed.join());
    expect(await dial(host, '192.0.2.2')).toEqual(['hello']);
    await send(host, ['192.0.2.2', 'datagram']);
    expect(await inside.got('datagram')).toEqual(['datagram']);

    const isRefused = ({ msg }: LogRecord): boolean => msg === 'a port is not relayed';
    await host.logs(isRefused, () =>
      service.know('v2', { hosts: [A], containers: [greedy, web, ...strange] }),
    );
    expect(await ports()).toEqual([
      ...relayed,
      'tcp 0.0.0.0:7070 10.42.1.11:80 rejected',
      'tcp 0.0.0.0:3389 10.42.1.11:80 rejected',
      ...['10.42.1.1', '192.0.2.9', '10.42.2.10'].map(
        (address, index) => `tcp 0.0.0.0:${8082 + index} ${address}:80 rejected`,
      ),
    ]);
    const { sources } = await host.network<StatusWithSources>('status');
    expect(sources).toMatchObject([
      { source: 'metadata' },
      {
        source: 'containers',
        state: 'current',
        count: 7,
        skipped: [
          { id: 'c-0', code: 'badPort' },
          { id: 'c-2', code: 'badAddress' },
        ],
      },
    ]);
    const audit = await host.wins(
      'srv',
      'audit',
      'show',
      '--config',
      host.workspace.path('config'),
    );
    expect(audit.stdout.toString()).toMatch(
      /hostNetworkChange +allowed +metadata +name="relay tcp/,
    );

    const stopped = { ...web, state: 'stopped' };
    service.know('v3', { hosts: [A], containers: [greedy, stopped, ...strange] });
    while ((await ports())[0] !== 'tcp 0.0.0.0:7070 10.42.1.11:80 listening');
    expect(await dial(host, '192.0.2.2')).toEqual(['ECONNRESET']);
  });
});

const container = (uuid: string, address: string, ...ports: readonly string[]) => ({
  uuid,
  host_uuid: 'h-a',
  environment_uuid: 'e1',
  state: 'running',
  primary_ip: address,
  ports,
});

class Service implements Disposable {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'wins-metadata-'));
  readonly #file = path.join(this.#folder, 'known.json');

  readonly know = (version: string, more: object): void => {
    writeFileSync(`${this.#file}.new`, JSON.stringify({ version, ...more }));
    renameSync(`${this.#file}.new`, this.#file);
  };

  /** Shell command that starts the service detached from the daemon's output. The service ends when its file is gone. */
  get command(): string {
    const words = [process.execPath, '-e', SERVICE, this.#file];
    return `${words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')} >/dev/null 2>&1 &`;
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }
}
