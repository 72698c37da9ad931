import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { DaemonEvents } from '../../kernel/daemon-events.js';
import { startTracing } from './start-tracing.js';

describe('the span of a call', () => {
  afterEach(() => jest.useRealTimers());

  it('begins when the call did, by the clock of the system as it is now', async () => {
    const collector = createServer((request, response) => {
      void text(request).then((body) => {
        response.end('{}');
        collector.emit('spans', body);
      });
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const { port } = collector.address() as AddressInfo;
    const events = new DaemonEvents();
    const endpoint = `http://127.0.0.1:${port}`;
    const tracing = startTracing({ endpoint, events, onChange: () => undefined });
    // The clock is set, a day on; the one that counts from the start of the process goes on as before.
    const now = Date.now() + 86_400_000;
    jest.useFakeTimers({ now, doNotFake: EVERYTHING_BUT_DATE });
    const trace = { traceId: 'a'.repeat(32), parentId: 'b'.repeat(16), isSampled: true };
    events.publish({ type: 'call', method: 'wins.Service/Method', code: 0, ms: 1000, trace });
    const sent = once(collector, 'spans');
    await tracing.close();
    expect(String(await sent)).toContain(`"startTimeUnixNano":"${now - 1000}000000"`);
    collector.close();
  });
});

const EVERYTHING_BUT_DATE = [
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] as const),
  ...(['clearImmediate', 'setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
];
