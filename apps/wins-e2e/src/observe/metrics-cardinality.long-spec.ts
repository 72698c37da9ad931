import { createWinsClient } from '@wins/wins-api';
import * as contract from '@wins/wins-api/contract';
import { connect as connectHttp2, constants, type ClientHttp2Session } from 'node:http2';
import { connect } from 'node:net';
import { Daemon } from '../testing/daemon.js';
import { startRequest } from '../testing/digests.js';
import { freeMetrics, scrape, type Scrape } from '../testing/scrape.js';
import { openLibraryTunnel } from '../testing/tunnel/library-tunnel.js';
import { Workspace } from '../testing/workspace.js';

const CLIENTS = 10_000;
const UNKNOWN_METHODS = 1000;
const VARIABLES = 200;
/** Variable names that would forge rules, labels or lines if the metrics contained them. */
const HOSTILE_NAMES = ['A15 not listed', 'other', 'a"} 1\nwins_forged 1\n#', '\u001b[2J', '\\'];
/** Number of ports to request; the tunnel refuses the first fifty at once and delays the others. */
const PORTS = 300;
const AT_A_TIME = 100;
/** About as many programs as a Rancher node permits. */
const PROGRAMS = 8;
/** The clients send this text. The metrics must not contain it. */
const MARK = 'stranger';

async function forEachBelow(count: number, action: (index: number) => Promise<unknown>) {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await action(next++);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
}

/** Paths of the contract's methods on all pipes. */
const METHODS: readonly string[] = Object.values(contract)
  .flatMap((each) => (typeof each === 'object' ? Object.values<unknown>({ ...each }) : []))
  .flatMap((each) =>
    typeof each === 'object' && each !== null && 'path' in each ? [String(each.path)] : [],
  );

function startOf(path: string, more: object = {}): Buffer {
  const { start } = contract.processServiceDefinition;
  return start.requestSerialize(contract.wholeStartRequest({ path, ...more }));
}

/** Sends one request. Cancels it at the first data of the answer or, with `isBrokenOff`, once it is sent. */
function call(
  session: ClientHttp2Session,
  path: string,
  request: Buffer,
  { client = MARK, isBrokenOff = false, isTooLarge = false } = {},
): Promise<void> {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    'wins-client': client,
  });
  const cancel = (): void => stream.close(constants.NGHTTP2_CANCEL);
  stream.on('error', () => undefined).on('data', cancel);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(isTooLarge ? 0x7fffffff : request.length, 1);
  stream.end(Buffer.concat([head, request]), () => isBrokenOff && cancel());
  return new Promise((resolve) => stream.once('close', resolve));
}

async function askForPorts(tunnelAddress: string): Promise<void> {
  const tunnel = await openLibraryTunnel(tunnelAddress, MARK);
  await forEachBelow(PORTS, async (index) => {
    const stream = tunnel.connect(index + 1).on('error', () => undefined);
    await new Promise((resolve) => stream.once('close', resolve));
  });
  await tunnel.close();
}

const sumOf = (now: Scrape, series: RegExp): number =>
  [...now].reduce((sum, [name, value]) => (series.test(name) ? sum + value : sum), 0);

describe('the metrics of a daemon that strangers ask for everything', () => {
  const workspace = new Workspace();
  let daemon: Daemon;
  let address: string;
  let session: ClientHttp2Session;
  let tunnelAddress: string;
  let metrics: string;
  const programs = Array.from({ length: PROGRAMS }, (_, index) =>
    workspace.script(
      `tool-${index}.exe`,
      '[ "$1" = stay ] && exec sleep 1000; echo out; echo err >&2; [ "$1" = die ] && kill -9 $$; exit "$1"',
    ),
  );

  beforeAll(async () => {
    const free = await freeMetrics();
    metrics = free.address;
    const config = workspace.config(programs, free.keys);
    daemon = await Daemon.start(workspace, config);
    const ready = await daemon.logged(({ msg }) => msg === 'ready');
    [address, tunnelAddress] = [String(ready['address']), String(ready['tunnelAddress'])];
    await daemon.logged(({ msg }) => msg === 'metrics are served');
    session = connectHttp2('http://localhost', { createConnection: () => connect(address) });
  });
  afterAll(async () => {
    session.destroy();
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  /** Ends runs of `program` in different ways, then requests a run with a wrong digest. */
  async function runInEachWay(program: string): Promise<void> {
    await using client = createWinsClient({ address });
    for (const word of ['0', '3', 'die', 'stay']) {
      const name = await client.startProcess(startRequest(program, [word]));
      const lease = client.keepAlive(name);
      if (word === 'stay') await client.runs.stop(name);
      for await (const _ of client.waitProcess(name));
      await lease.end().catch(() => undefined);
    }
    const otherDigest = startOf(program, { checksumSha256: 'f'.repeat(64) });
    await call(session, contract.processServiceDefinition.start.path, otherDigest);
  }

  it('are fewer than 1,000 series after 10,000 clients, paths and refusals, and contain none of their text (A92)', async () => {
    const { path } = contract.processServiceDefinition.start;
    const [empty, garbage] = [Buffer.alloc(0), Buffer.from([0xff, 0xff])];
    await Promise.all([
      forEachBelow(CLIENTS, (index) =>
        call(session, path, startOf(`/opt/${MARK}-${index}`), { client: `${MARK}-${index}` }),
      ),
      forEachBelow(UNKNOWN_METHODS, (index) =>
        call(session, `/${MARK}.Service/${MARK}${index}`, Buffer.alloc(0)),
      ),
      Promise.all(programs.map(runInEachWay)),
      askForPorts(tunnelAddress),
    ]);
    // Not in the `Promise.all` above, because a connection allows only 256 concurrent calls.
    await forEachBelow(HOSTILE_NAMES.length + VARIABLES, (index) => {
      const name = HOSTILE_NAMES[index] ?? `${MARK}${index}`;
      const more = { checksumSha256: 'f'.repeat(64), envs: [`${name}=x`] };
      return call(session, path, startOf(programs[0] ?? '', more));
    });
    for (const method of METHODS) {
      await Promise.all([
        call(session, method, empty),
        call(session, method, garbage),
        call(session, method, empty, { isTooLarge: true }),
        call(session, method, empty, { isBrokenOff: true }),
      ]);
    }
    const now = await scrape(metrics);
    expect(now.size).toBeLessThan(1000);
    expect([...now.keys()].filter((series) => series.includes(MARK))).toEqual([]);
    expect(now.get('wins_refusals_total{action="start",rule="not listed"}')).toBe(CLIENTS);
    const ofVariables = 'wins_refusals_total{action="start",rule="variable not granted"}';
    expect(now.get(ofVariables)).toBeGreaterThan(VARIABLES);
    const refusals = [...now.keys()].filter((series) => /^wins_(?:refusals|forged)/.test(series));
    // Each label consists of fixed words. It has no text from a client, such as a name in `HOSTILE_NAMES`.
    for (const series of refusals)
      expect(series).toMatch(/^wins_refusals_total\{action="[A-Za-z]+",rule="[A-Za-z -]+"\}$/);
    expect(refusals.filter((series) => /forged|"other"|[^a]not listed[^"]/.test(series))).toEqual(
      [],
    );
    expect(now.get('wins_tunnel_connects_total{result="refused"}')).toBe(PORTS);
    expect(sumOf(now, /^wins_calls_total\{/)).toBeGreaterThan(
      CLIENTS + UNKNOWN_METHODS + 4 * METHODS.length,
    );
  });
});
