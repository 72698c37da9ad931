import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DaemonEvents } from '../../kernel/daemon-events.js';
import { createLoggerTo } from '../../kernel/log/logger.js';
import { parseTraceparent } from '../../kernel/rpc/trace-context.js';
import type { ServedMethod } from '../../kernel/rpc/call-server.js';
import { startTracing } from './start-tracing.js';

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

describe('the span of a call', () => {
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
    jest.useRealTimers();
    collector.closeAllConnections();
    collector.close();
    await once(collector, 'close');
  });

  const started = (gatherMs: number, path = '') => {
    const { port } = collector.address() as AddressInfo;
    const endpoint = `http://127.0.0.1:${port}${path}`;
    const events = new DaemonEvents();
    const log: string[] = [];
    const write = (line: string) => void log.push((JSON.parse(line) as { msg: string }).msg);
    const logger = createLoggerTo({ debug: false, quiet: false }, { write });
    const tracing = startTracing({ endpoint }, { logger, events }, gatherMs);
    return {
      close: () => Promise.resolve(tracing.close()),
      log,
      answered: (more = {}) => events.publish({ ...CALL, ...more }),
    };
  };

  it('is posted as a part of the trace of the client', async () => {
    const { answered, close } = started(1);
    answered();
    await once(collector, 'spans');
    await close();
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
                  traceId: TRACE,
                  parentSpanId: PARENT,
                  name: CALL.method,
                  kind: 2,
                  attributes: expect.arrayContaining([
                    { key: 'rpc.service', value: { stringValue: 'wins.ProcessService' } },
                    { key: 'rpc.method', value: { stringValue: 'Start' } },
                    { key: 'rpc.grpc.status_code', value: { intValue: 5 } },
                  ]) as unknown,
                  status: { code: 2 },
                },
              ],
            },
          ],
        },
      ],
    });
  });

  it('begins when the call did, by the clock of the system as it is now', async () => {
    const { answered, close } = started(60_000);
    // Sets the wall clock a day ahead; the monotonic clock is unaffected.
    const now = Date.now() + 86_400_000;
    jest.useFakeTimers({ now, doNotFake: EVERYTHING_BUT_DATE });
    answered({ ms: 12.5 });
    await close();
    expect(bodies.join()).toContain(`"startTimeUnixNano":"${now - 13}500000"`);
    expect(bodies.join()).toContain(`"endTimeUnixNano":"${now}000000"`);
  });

  it('is not made where the client does not record the trace', async () => {
    const { answered, close } = started(1);
    answered({ trace: { ...CALL.trace, isSampled: false } });
    answered({ trace: undefined });
    await close();
    expect(bodies).toEqual([]);
  });

  it.each([
    ['', '/v1/traces'],
    ['/', '/v1/traces'],
    ['/a/b', '/a/b'],
  ])('is posted to an endpoint that ends with %j at %s', async (ending, path) => {
    const { answered, close } = started(60_000, ending);
    answered();
    await close();
    expect(paths).toEqual([path]);
  });

  it('is posted at the end, once', async () => {
    const { answered, close } = started(60_000);
    answered();
    await close();
    expect(bodies).toHaveLength(1);
    answered();
    await close();
    expect(bodies).toHaveLength(1);
  });

  it('is dropped when too many wait, and when a collector accepts none, which is logged (A89)', async () => {
    status = 400;
    const { answered, close, log } = started(1);
    for (let n = 0; n < 10_000; n += 1) answered();
    await once(collector, 'spans');
    await close();
    expect(log).toEqual([
      'calls of clients that trace are sent as spans',
      'the collector takes no spans: they are dropped',
      'spans are no longer sent',
    ]);
    const sent = bodies.reduce((sum, body) => sum + body.split('"spanId"').length - 1, 0);
    expect(sent).toBeLessThanOrEqual(2_048 + 2 * 256);
  });
});

const CALL = {
  ...({ type: 'call', code: 5, ms: 12.5 } as const),
  method: 'wins.ProcessService/Start' as ServedMethod,
  trace: { traceId: TRACE, parentId: PARENT, isSampled: true },
};
const EVERYTHING_BUT_DATE = [
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] as const),
  ...(['clearImmediate', 'setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
];
