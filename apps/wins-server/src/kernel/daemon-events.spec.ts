import { DaemonEvents, type DaemonEvent } from './daemon-events.js';

const stall = (lateMs: number): DaemonEvent => ({ type: 'stall', lateMs });

describe('the events of a daemon', () => {
  it('reach every listener in order, from its subscription to its disposal', () => {
    const events = new DaemonEvents();
    const heard: string[] = [];
    const listener = (name: string) => (event: DaemonEvent) =>
      heard.push(`${name} ${event.type === 'stall' ? event.lateMs : event.type}`);
    events.publish(stall(1));
    const first = events.subscribe(listener('first'));
    const second = events.subscribe(listener('second'));
    events.publish(stall(2));
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    events.publish(stall(3));
    second[Symbol.dispose]();
    events.publish(stall(4));
    expect(heard).toEqual(['first 2', 'second 2', 'second 3']);
  });

  it('that come with each call, connection and stream reach those alone who want the routine', () => {
    const events = new DaemonEvents();
    const heard: string[] = [];
    using _notable = events.subscribe(({ type }) => heard.push(`notable ${type}`));
    expect(events.isCounted).toBe(false);
    using _all = events.subscribe(({ type }) => heard.push(`all ${type}`), { routine: true });
    expect(events.isCounted).toBe(true);
    events.publish({ type: 'call', method: 'unknown', code: 0, ms: 1 });
    events.publish({ type: 'connection', pipe: 'main', phase: 'opened' });
    events.publish({ type: 'stream', phase: 'connected', port: 80 });
    expect(heard).toEqual(['all call', 'all connection', 'all stream']);
    heard.length = 0;
    events.publish({ type: 'connection', pipe: 'main', phase: 'refused', rule: 'idle' });
    events.publish({ type: 'stream', phase: 'failed', port: 80, code: 'dialRefused' });
    expect(heard).toEqual(['notable connection', 'all connection', 'notable stream', 'all stream']);
  });

  it('go on to the others when a listener throws, which is told once', () => {
    const failures: unknown[] = [];
    const events = new DaemonEvents((error) => failures.push(error));
    const broken = new Error('broken');
    let heard = 0;
    using _first = events.subscribe(() => {
      throw broken;
    });
    using _second = events.subscribe(() => (heard += 1));
    events.publish(stall(1));
    events.publish(stall(2));
    expect(heard).toBe(2);
    expect(failures).toEqual([broken]);
  });

  it('are still told to all when a listener leaves during one', () => {
    const events = new DaemonEvents();
    const heard: string[] = [];
    const first = events.subscribe(() => {
      heard.push('first');
      first[Symbol.dispose]();
    });
    using _second = events.subscribe(() => heard.push('second'));
    events.publish(stall(1));
    expect(heard).toEqual(['first', 'second']);
  });
});
