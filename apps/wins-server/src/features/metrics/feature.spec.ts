import { parseConfig } from '@wins/config';
import { FeatureSwitch } from '../../kernel/feature-switch.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { StillClock } from '../../testing/still-clock.js';
import { metricsFeature } from './feature.js';
import { startMetrics, type RunningMetrics } from './start-metrics.js';

const at = (listen: string) => ({ listen, allowRemote: false });
const OFF = { reason: 'there is no section' };

describe('the feature metrics', () => {
  let told: string[];
  let lines: string[];
  let clock: StillClock;
  const settled = () => new Promise(setImmediate);
  const make = (
    configure: NonNullable<RunningMetrics['configure']>,
    start = (): RunningMetrics => {
      told.push('begin');
      return {
        scrape: () => Promise.resolve('text'),
        configure,
        close: () => {
          told.push('end');
          return Promise.resolve();
        },
      };
    },
  ) =>
    new FeatureSwitch(
      metricsFeature(() => ({ startMetrics: start })),
      kernelOf({}, lines),
      clock,
    );
  const listens = ({ listen }: { readonly listen: string }) => {
    told.push(listen);
    return Promise.resolve();
  };
  const messages = () => lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  beforeEach(() => ([told, lines, clock] = [[], [], new StillClock()]));

  it('is off while the config has no section', () => {
    const feature = metricsFeature(() => ({ startMetrics: () => never }));
    const loaded = { ...parseConfig(''), path: 'config', found: true };
    expect(feature.settings(loaded)).toEqual({ reason: 'the config has no section metrics' });
  });
  const never = undefined as never;

  it('counts from the call on, moves the listener alone, and does nothing for the same again', async () => {
    const metrics = make(listens);
    metrics.apply(at('127.0.0.1:1'));
    expect(told).toEqual(['begin']);
    metrics.apply(at('127.0.0.1:1'));
    await settled();
    metrics.apply(at('127.0.0.1:2'));
    expect(await metrics.running?.scrape()).toBe('text');
    await metrics.close();
    expect(told).toEqual(['begin', '127.0.0.1:1', '127.0.0.1:2', 'end']);
    expect(metrics.running).toBeUndefined();
  });

  it('ends, and begins anew, when the section goes and comes', async () => {
    const metrics = make(listens, () => startMetrics(kernelOf({}, lines)));
    const said = async (...wanted: readonly string[]) => {
      while (messages().length < wanted.length) await settled();
      expect(messages()).toEqual(wanted);
    };
    metrics.apply(at('127.0.0.1:0'));
    await said('metrics are served');
    metrics.apply(OFF);
    await said('metrics are served', 'metrics are off');
    metrics.apply(at('127.0.0.1:0'));
    await said('metrics are served', 'metrics are off', 'metrics are served');
    await metrics.close();
    expect(messages().at(-1)).toBe('metrics are off');
  });

  it('says why when the metrics cannot be loaded, and the daemon goes on', async () => {
    const metrics = make(listens, () => {
      throw new Error('no such file');
    });
    metrics.apply(at('127.0.0.1:1'));
    await settled();
    expect(() => metrics.require()).toThrow(
      'metrics are disabled (it cannot start: no such file): set metrics.listen in the config to turn them on',
    );
    await metrics.close();
  });

  it('tries again when the address is taken, ever more slowly, and answers the pipe meanwhile', async () => {
    let attempts = 0;
    const metrics = make((settings) => {
      attempts += 1;
      if (attempts < 3) return Promise.reject(new Error('it is taken'));
      return listens(settings);
    });
    metrics.apply(at('127.0.0.1:1'));
    for (const tries of [1, 2]) {
      await settled();
      expect([attempts, await metrics.running?.scrape()]).toEqual([tries, 'text']);
      clock.end();
    }
    await settled();
    expect(clock.waits).toEqual([1_000, 2_000]);
    expect(messages()).toEqual(['cannot serve metrics', 'cannot serve metrics']);
    expect(told).toEqual(['begin', '127.0.0.1:1']);
    await metrics.close();
  });
});
