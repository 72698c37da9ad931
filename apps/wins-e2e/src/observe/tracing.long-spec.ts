import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import {
  applicationServiceDefinition,
  processServiceDefinition,
  wholeStartRequest,
} from '@wins/wins-api/contract';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';

const TRACE = 'c0ffee00c0ffee00c0ffee00c0ffee00';
const PARENT = 'feedfacefeedface';
const SAMPLED = `00-${TRACE}-${PARENT}-01`;
const CANARY = 'canary-5e2c';

interface Span {
  readonly traceId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}
interface Posted {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

/** A collector that keeps all received bodies. */
async function openCollector(answer: 'takes' | 'hangs' = 'takes') {
  const bodies: string[] = [];
  let posts = 0;
  const server = createServer((request, response) => {
    posts += 1;
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      bodies.push(`${request.method} ${request.url}\n${Buffer.concat(parts).toString()}`);
      if (answer === 'takes') response.end('{}');
      server.emit('posted');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const spans = (): Span[] =>
    bodies
      .map((body) => JSON.parse(body.slice(body.indexOf('\n'))) as Posted)
      .flatMap(({ resourceSpans }) => resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    spans,
    posts: () => posts,
    has: async (count: number): Promise<Span[]> => {
      while (spans().length < count) await once(server, 'posted');
      return spans();
    },
    posted: async () => {
      if (posts === 0) await once(server, 'posted');
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('tracing', () => {
  let workspace: Workspace;
  let program: string;
  beforeEach(() => {
    workspace = new Workspace();
    program = workspace.script('tool', 'exit 0');
  });
  afterEach(() => workspace[Symbol.dispose]());

  async function call(
    daemon: Daemon,
    method: 'info' | 'start',
    traceparent?: string,
  ): Promise<ServiceError | null> {
    const { address } = await daemon.logged(({ msg }) => msg === 'ready');
    const client = new Client(`unix:${String(address)}`, credentials.createInsecure());
    const metadata = new Metadata();
    if (traceparent !== undefined) metadata.set('traceparent', traceparent);
    try {
      return await new Promise((resolve) => {
        const done = (error: ServiceError | null): void => resolve(error);
        if (method === 'info') {
          const { path, requestSerialize, responseDeserialize } = applicationServiceDefinition.info;
          client.makeUnaryRequest(path, requestSerialize, responseDeserialize, {}, metadata, done);
        } else {
          const { path, requestSerialize, responseDeserialize } = processServiceDefinition.start;
          const asked = { checksum: 'x', path: `/${CANARY}`, args: [CANARY] };
          const request = wholeStartRequest(asked);
          client.makeUnaryRequest(
            path,
            requestSerialize,
            responseDeserialize,
            request,
            metadata,
            done,
          );
        }
      });
    } finally {
      client.close();
    }
  }

  it('sends a span for each call of a client that traces, and for no other, without its content', async () => {
    await using collector = await openCollector();
    const { endpoint } = collector;
    await using daemon = await Daemon.start(
      workspace,
      workspace.config([program], { tracing: { endpoint } }),
    );
    await call(daemon, 'info');
    await call(daemon, 'info', `00-${TRACE}-${PARENT}-00`);
    await call(daemon, 'info', 'nonsense');
    await call(daemon, 'info', SAMPLED);
    expect((await call(daemon, 'start', SAMPLED))?.code).toBeGreaterThan(0);
    const spans = await collector.has(2);
    const ours = { traceId: TRACE, parentSpanId: PARENT };
    expect(spans).toMatchObject([
      { ...ours, name: 'wins.ApplicationService/Info' },
      { ...ours, name: 'wins.ProcessService/Start', status: { code: 2 } },
    ]);
    expect(spans.flatMap(({ attributes }) => attributes.map(({ key }) => key)).sort()).toEqual(
      ['rpc.grpc.status_code', 'rpc.method', 'rpc.service', 'rpc.system'].flatMap((key) => [
        key,
        key,
      ]),
    );
    await daemon.stop();
    expect(collector.spans()).toHaveLength(2);
    expect(collector.bodies.join('\n')).toMatch(/^POST \/v1\/traces\n/);
    expect(collector.bodies.join('\n')).not.toContain(CANARY);
  });

  it('is off by default; the log at debug level has the trace of a call in any case', async () => {
    await using daemon = await Daemon.start(workspace, workspace.config([program]), '--debug');
    await call(daemon, 'info', SAMPLED);
    const answered = await daemon.logged(
      ({ msg, traceId }) => msg === 'call answered' && traceId === TRACE,
    );
    expect(answered).toMatchObject({ spanId: PARENT, status: 'OK' });
    expect(daemon.log.map(({ msg }) => msg)).not.toContain(
      'calls of clients that trace are sent as spans',
    );
  });

  it('follows the config, and reports an unreachable collector once', async () => {
    await using daemon = await Daemon.start(workspace, workspace.config([program]));
    const collector = await openCollector();
    const { endpoint } = collector;
    workspace.config([program], { tracing: { endpoint } });
    await daemon.logged(({ msg }) => msg === 'calls of clients that trace are sent as spans');
    await call(daemon, 'info', SAMPLED);
    await collector.has(1);
    await daemon.logged(({ msg }) => msg === 'the collector takes spans');
    await collector[Symbol.asyncDispose]();
    await call(daemon, 'info', SAMPLED);
    const lost = await daemon.logged(({ msg }) => msg.startsWith('the collector takes no'));
    expect(lost).toMatchObject({ level: 'warn', endpoint });
    workspace.config([program]);
    await daemon.logged(({ msg }) => msg === 'spans are no longer sent');
    expect(await call(daemon, 'info', SAMPLED)).toBeNull();
  });

  it('costs a daemon nothing when the collector never answers: it serves and stops (A90)', async () => {
    await using collector = await openCollector('hangs');
    const { endpoint } = collector;
    await using daemon = await Daemon.start(
      workspace,
      workspace.config([program], { tracing: { endpoint } }),
    );
    await Promise.all(Array.from({ length: 200 }, () => call(daemon, 'info', SAMPLED)));
    await collector.posted();
    expect(await call(daemon, 'info', SAMPLED)).toBeNull();
    expect((await daemon.stop()).code).toBe(0);
    // One batch was under way, and at most one follows at the end.
    expect(collector.posts()).toBeLessThanOrEqual(2);
  });

  it.each(['http://u:canary@host', 'http://host/?key=canary', 'host:4318'])(
    'is not configured with %s, which is not repeated',
    async (endpoint) => {
      const config = workspace.config([program], { tracing: { endpoint } });
      const { code, stderr } = await runWins(
        ['srv', 'config', 'check', '--config', config],
        workspace.environment,
      );
      expect([code, stderr]).toEqual([78, expect.stringContaining('tracing.endpoint')]);
      expect(stderr).not.toContain('canary');
    },
  );
});
