import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { kernelOf } from '../testing/kernel-of.js';
import { StillClock } from '../testing/still-clock.js';
import { FeatureError } from './feature-error.js';
import { FeatureSwitch } from './feature-switch.js';
import type { Feature, FeatureOff, FeatureReport, RunningFeature } from './feature.js';

interface Settings {
  readonly name: string;
}

class Recorded {
  readonly actions: string[] = [];
  readonly lines: string[] = [];
  readonly clock = new StillClock();
  failures = 0;
  /** Delays each start. */
  gate: Promise<unknown> | undefined;
  report: FeatureReport<Settings> | undefined;

  switch(more: Partial<Feature<Settings>> = {}, configures = false) {
    const made = new FeatureSwitch<Settings, RunningFeature<Settings>>(
      {
        name: 'made-up',
        stage: 'works',
        purpose: 'make anything up',
        settings: () => ({ reason: 'not here' }),
        start: async ({ name }, _kernel, report) => {
          this.report = report;
          this.actions.push(`start ${name}`);
          await this.gate;
          if (!configures) this.#mayFail();
          return {
            ...(configures && {
              configure: (next: Settings) => {
                this.actions.push(`configure ${next.name}`);
                this.#mayFail();
              },
            }),
            close: () => void this.actions.push(`close ${name}`),
          };
        },
        ...more,
      },
      kernelOf({}, this.lines),
      this.clock,
    );
    return made;
  }

  #mayFail(): void {
    if (this.failures === 0) return;
    this.failures -= 1;
    throw new Error('no luck');
  }
}

/** Waits for a change to which the feature has led, and until nothing runs that led to it. */
async function until(one: FeatureSwitch<Settings>, isSo: () => boolean): Promise<void> {
  const changed = new Promise<void>((resolve) => {
    const look = (): void => {
      if (isSo()) resolve();
    };
    one.onChange = look;
    look();
  });
  await changed;
  await turn();
}

const OFF: FeatureOff = { reason: 'the config has no such section' };

describe('the switch of a feature', () => {
  let recorded: Recorded;
  beforeEach(() => (recorded = new Recorded()));

  it('goes from off over starting to on, and off again with its reason', async () => {
    const one = recorded.switch();
    expect([one.state, one.reason]).toEqual([
      { kind: 'off', reason: 'the daemon is starting' },
      'the daemon is starting',
    ]);
    one.apply({ name: 'a' });
    expect([one.state.kind, one.reason]).toEqual(['starting', 'it is starting']);
    await until(one, () => one.state.kind === 'on');
    expect(one.settings).toEqual({ name: 'a' });
    expect(one.require()).toBe(one.running);
    one.apply(OFF);
    await until(one, () => one.state.kind === 'off' && one.running === undefined);
    expect(one.reason).toBe(OFF.reason);
    await one.close();
    expect(one.reason).toBe('the daemon is stopping');
    expect(recorded.actions).toEqual(['start a', 'close a']);
  });

  it('does nothing for equal settings, and starts anew for others', async () => {
    const one = recorded.switch();
    one.apply({ name: 'a' });
    one.apply({ name: 'a' });
    await until(one, () => one.state.kind === 'on');
    one.apply({ name: 'a' });
    one.apply({ name: 'b' });
    await until(one, () => one.state.kind === 'on' && recorded.actions.length > 2);
    await one.close();
    expect(recorded.actions).toEqual(['start a', 'close a', 'start b', 'close b']);
  });

  it('makes one change at a time, and the newest settings win over those that wait', async () => {
    const one = recorded.switch();
    let open: () => void = () => undefined;
    recorded.gate = new Promise<void>((resolve) => (open = resolve));
    one.apply({ name: 'a' });
    one.apply({ name: 'b' });
    one.apply(OFF);
    one.apply({ name: 'c' });
    expect(recorded.actions).toEqual(['start a']);
    open();
    await until(one, () => one.state.kind === 'on' && recorded.actions.includes('start c'));
    expect(recorded.actions).toEqual(['start a', 'close a', 'start c']);
    await one.close();
  });

  it('gives settings to a feature that takes them while it runs, from those of the start on', async () => {
    const one = recorded.switch({}, true);
    one.apply({ name: 'a' });
    await until(one, () => one.state.kind === 'on');
    one.apply({ name: 'b' });
    // New settings apply without a delay, because a program that is no longer listed must not start.
    expect(recorded.actions).toEqual(['start a', 'configure a', 'configure b']);
    await one.close();
    expect(recorded.actions.at(-1)).toBe('close a');
  });

  it('tries again after a failure, ever more slowly, and forgets that when there are other settings', async () => {
    recorded.failures = 8;
    const one = recorded.switch();
    one.apply({ name: 'a' });
    for (let tries = 1; tries <= 8; tries += 1) {
      await until(one, () => one.state.kind === 'failed' && recorded.lines.length === tries);
      expect(one.reason).toBe('it cannot start: no luck');
      if (tries < 8) recorded.clock.end();
    }
    expect(recorded.clock.waits).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000,
    ]);
    expect(recorded.lines[0]).toMatch(/"level":"error".*no luck.*cannot make anything up/);
    recorded.failures = 1;
    one.apply({ name: 'b' });
    await until(one, () => recorded.lines.length === 9);
    expect(recorded.clock.waits.at(-1)).toBe(1_000);
    recorded.clock.end();
    await until(one, () => one.state.kind === 'on');
    await one.close();
  });

  it('lets a feature run on whose settings cannot be put in force, and tries those again', async () => {
    recorded.failures = 1;
    const one = recorded.switch({}, true);
    one.apply({ name: 'a' });
    await until(one, () => one.state.kind === 'failed');
    expect(one.require()).toBe(one.running);
    recorded.clock.end();
    await until(one, () => one.state.kind === 'on');
    expect(recorded.actions).toEqual(['start a', 'configure a', 'configure a']);
    await one.close();
  });

  it('tries nothing again that is off by then', async () => {
    recorded.failures = 1;
    const one = recorded.switch();
    one.apply({ name: 'a' });
    await until(one, () => one.state.kind === 'failed');
    one.apply(OFF);
    recorded.clock.end();
    await one.close();
    expect(recorded.actions).toEqual(['start a']);
  });

  it('is off for the reason that a start gives, and when the feature has nothing left to do', async () => {
    const absent = recorded.switch({ start: () => OFF });
    absent.apply({ name: 'a' });
    await until(absent, () => absent.state.kind === 'off');
    expect(absent.reason).toBe(OFF.reason);
    const one = recorded.switch();
    const settings = { name: 'b' };
    one.apply(settings);
    await until(one, () => one.state.kind === 'on');
    recorded.report?.finished({ name: 'b' }, OFF);
    expect(one.state.kind).toBe('on');
    recorded.report?.finished(settings, OFF);
    await until(one, () => one.running === undefined && one.state.kind === 'off');
    expect([one.reason, recorded.actions.at(-1)]).toEqual([OFF.reason, 'close b']);
    await one.close();
  });

  it('says how a call is refused while it is off', () => {
    const whenOff = {
      code: 'madeUpOff' as const,
      message: (reason: string) => `made-up: ${reason}`,
    };
    expect(() => recorded.switch({ whenOff }).require()).toThrow(
      new FeatureError('madeUpOff', 'made-up: the daemon is starting'),
    );
    expect(() => recorded.switch().require()).toThrow(/cannot use made-up: the daemon is starting/);
  });

  it('waits for the end of its feature, or as long as that wants', async () => {
    const closing = new EventTarget();
    const close = () => once(closing, 'closed').then(() => undefined);
    const slow = recorded.switch({ start: () => ({ close }), closeWithinMs: 5_000 });
    slow.apply({ name: 'a' });
    await until(slow, () => slow.state.kind === 'on');
    const ending = slow.close();
    expect(recorded.clock.waits).toEqual([5_000]);
    recorded.clock.end();
    await ending;
    const patient = recorded.switch({ start: () => ({ close }) });
    patient.apply({ name: 'a' });
    await until(patient, () => patient.state.kind === 'on');
    const [ended] = [patient.close(), closing.dispatchEvent(new Event('closed'))];
    await ended;
    expect(patient.running).toBeUndefined();
  });

  it('does not start what it is told after its end', async () => {
    const one = recorded.switch();
    await one.close();
    one.apply({ name: 'a' });
    await one.close();
    expect([recorded.actions, one.reason]).toEqual([[], 'the daemon is stopping']);
  });

  it('throws what the start of a feature throws without which the daemon does not serve', async () => {
    recorded.failures = 1;
    const one = recorded.switch({ stage: 'serves' });
    await expect(one.begin({ name: 'a' })).rejects.toThrow('no luck');
    expect(recorded.clock.waits).toEqual([]);
    await one.begin({ name: 'b' });
    const running = one.require();
    await one.close();
    // After `close`, the feature still answers pending calls.
    expect([one.require(), recorded.actions.at(-1)]).toEqual([running, 'close b']);
  });
});
