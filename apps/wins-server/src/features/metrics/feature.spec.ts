import type { Logger } from '../../log/logger.js';
import type { RunningMetrics } from './metrics-sources.js';
import { MetricsSwitch } from './feature.js';

/** What was logged, and a promise of the next line. */
function memoryLog() {
  const lines: string[] = [];
  const log = (_facts: unknown, line?: string) => lines.push(line ?? String(_facts));
  return { lines, logger: { info: log, error: log } as unknown as Logger };
}

/** Until it is disposed of, timers end when the test says so. */
function fakeTimers(): Disposable {
  jest.useFakeTimers();
  return { [Symbol.dispose]: () => void jest.useRealTimers() };
}

const at = (listen: string) => ({ metrics: { listen, allowRemote: false } });

describe('the switch of the metrics', () => {
  let told: string[];
  const load = (listen: RunningMetrics['listen']) => () => ({
    startMetrics: (): RunningMetrics => {
      told.push('begin');
      return {
        scrape: () => Promise.resolve('text'),
        listen,
        close: () => {
          told.push('end');
          return Promise.resolve();
        },
      };
    },
  });
  const make = (listen: RunningMetrics['listen']) => {
    const { logger, lines } = memoryLog();
    const metrics = new MetricsSwitch({ logger, sources: () => never, load: load(listen) });
    return { metrics, lines };
  };
  const never = undefined as never;
  const listens = ({ listen }: { readonly listen: string }) => {
    told.push(listen);
    return Promise.resolve(listen);
  };
  beforeEach(() => (told = []));

  it('loads nothing while the config has no section', async () => {
    await using metrics = make(listens).metrics;
    metrics.apply({});
    expect([metrics.running, metrics.reason]).toEqual([
      undefined,
      'the config has no section metrics',
    ]);
    expect(told).toEqual([]);
  });

  it('counts from the call on, moves the listener alone, and does nothing for the same again', async () => {
    const { metrics } = make(listens);
    metrics.apply(at('127.0.0.1:1'));
    expect(told).toEqual(['begin']);
    expect(await metrics.running?.scrape()).toBe('text');
    metrics.apply(at('127.0.0.1:1'));
    metrics.apply(at('127.0.0.1:2'));
    await metrics[Symbol.asyncDispose]();
    await metrics[Symbol.asyncDispose]();
    expect(told).toEqual(['begin', '127.0.0.1:1', '127.0.0.1:2', 'end']);
    expect(metrics.running).toBeUndefined();
  });

  it('begins anew when it was off in between, however fast that was', async () => {
    const { metrics } = make(listens);
    metrics.apply(at('127.0.0.1:1'));
    metrics.apply({});
    metrics.apply(at('127.0.0.1:1'));
    await metrics[Symbol.asyncDispose]();
    expect(told).toEqual(['begin', '127.0.0.1:1', 'end', 'begin', '127.0.0.1:1', 'end']);
  });

  it('says why when the metrics cannot be loaded, and the daemon goes on', async () => {
    const { logger, lines } = memoryLog();
    const broken = () => {
      throw new Error('no such file');
    };
    await using metrics = new MetricsSwitch({ logger, sources: () => never, load: broken });
    metrics.apply(at('127.0.0.1:1'));
    expect([metrics.running, metrics.reason]).toEqual([
      undefined,
      'they cannot be kept: no such file',
    ]);
    expect(lines).toContain('cannot keep metrics');
  });

  it('tries again when the address is taken, ever more slowly, and answers the pipe meanwhile', async () => {
    using _clock = fakeTimers();
    let attempts = 0;
    const { metrics, lines } = make(({ listen }) => {
      attempts += 1;
      return attempts < 3 ? Promise.reject(new Error('it is taken')) : Promise.resolve(listen);
    });
    metrics.apply(at('127.0.0.1:1'));
    expect(await metrics.running?.scrape()).toBe('text');
    await jest.advanceTimersByTimeAsync(999);
    expect(attempts).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(attempts).toBe(2);
    await jest.advanceTimersByTimeAsync(1999);
    expect(attempts).toBe(2);
    await jest.advanceTimersByTimeAsync(1);
    expect(lines).toEqual(['cannot serve metrics', 'cannot serve metrics', 'metrics are served']);
    await metrics[Symbol.asyncDispose]();
  });
});
