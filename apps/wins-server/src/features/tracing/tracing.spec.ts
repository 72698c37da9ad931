import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseTraceparent } from './trace-context.js';
import { SpanSender, type ServerSpan } from './span-sender.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

describe('a traceparent', () => {
  it.each([
    [`00-${TRACE}-${PARENT}-01`, true],
    [`00-${TRACE}-${PARENT}-00`, false],
    [`00-${TRACE}-${PARENT}-03`, true],
    [`cc-${TRACE}-${PARENT}-01-what-comes-later`, true],
  ])('%s has a trace, and says whether it is recorded: %s', (text, isSampled) => {
    expect(parseTraceparent(text)).toEqual({ traceId: TRACE, parentId: PARENT, isSampled });
  });

  it.each([
    undefined,
    '',
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
    `cc-${TRACE}-${PARENT}-01-${'x'.repeat(300)}`,
    `00-${TRACE}-${PARENT}-01\n`,
  ])('%j is none', (text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });
});

describe('a sender of spans', () => {
  let collector: Server;
  let bodies: string[];
  let paths: (string | undefined)[];
  let status: number;
  beforeEach(async () => {
    bodies = [];
    paths = [];
    status = 200;
    collector = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        paths.push(request.url);
        bodies.push(Buffer.concat(parts).toString());
        response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
        collector.emit('spans');
      });
    });
    collector.listen(0, '127.0.0.1');
    await once(collector, 'listening');
  });
  afterEach(async () => {
    collector.closeAllConnections();
    collector.close();
    await once(collector, 'close');
  });

  const endpoint = () => `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const service = { name: 'wins', version: 'v1', host: 'node' };
  const span: ServerSpan = {
    name: 'wins.ProcessService/Start',
    context: { traceId: TRACE, parentId: PARENT, isSampled: true },
    startedAtMs: 1_700_000_000_000,
    durationMs: 12.5,
    attributes: { 'rpc.method': 'Start' },
    hasFailed: true,
  };

  it('posts them as parts of the trace of the client', async () => {
    await using sender = new SpanSender({ endpoint: endpoint(), service, gatherMs: 1 });
    sender.send(span);
    await once(collector, 'spans');
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({
      resourceSpans: [
        {
          resource: {
            attributes: expect.arrayContaining([
              { key: 'service.name', value: { stringValue: 'wins' } },
            ]) as unknown,
          },
          scopeSpans: [
            {
              spans: [
                {
                  ...{ traceId: TRACE, parentSpanId: PARENT, name: span.name, kind: 2 },
                  startTimeUnixNano: '1700000000000000000',
                  endTimeUnixNano: '1700000000012500000',
                  status: { code: 2 },
                },
              ],
            },
          ],
        },
      ],
    });
  });

  it.each([
    ['', '/v1/traces'],
    ['/', '/v1/traces'],
    ['/a/b', '/a/b'],
  ])('posts to an endpoint that ends with %j at %s', async (ending, path) => {
    const sender = new SpanSender({ endpoint: `${endpoint()}${ending}`, service });
    sender.send(span);
    await sender.close();
    expect(paths).toEqual([path]);
  });

  it.each([
    ...['ftp://collector', 'http://u:canary@collector', 'http://c/?k=canary', 'canary'],
    'http://u:canary@collector:99999',
  ])('is not made for %s, and does not repeat it', (address) => {
    expect(() => new SpanSender({ endpoint: address, service })).toThrow(
      /^cannot send spans: found (?!.*canary)/,
    );
  });

  it('posts what waits when it is closed, once', async () => {
    const sender = new SpanSender({ endpoint: endpoint(), service, gatherMs: 60_000 });
    sender.send(span);
    await sender.close();
    expect(bodies).toHaveLength(1);
    sender.send(span);
    await sender.close();
    expect(bodies).toHaveLength(1);
  });

  it('says when a collector takes none, and drops what is too much (A89)', async () => {
    status = 400;
    const changes: boolean[] = [];
    const onChange = (isTaken: boolean) => void changes.push(isTaken);
    await using sender = new SpanSender({ endpoint: endpoint(), service, gatherMs: 1, onChange });
    for (let n = 0; n < 10_000; n += 1) sender.send(span);
    await once(collector, 'spans');
    await sender.close();
    expect(changes).toEqual([false]);
    const sent = bodies.reduce((sum, body) => sum + body.split('"spanId"').length - 1, 0);
    expect(sent).toBeLessThanOrEqual(2_048 + 2 * 256);
  });
});
