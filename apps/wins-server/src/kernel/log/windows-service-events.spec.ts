import type { LogEvent } from '@wins/windows-host';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createEventDestination, eventOf } from './windows-service-events.js';

const ALLOWED = { level: 'info', msg: 'allowed to start', log: 'audit', verdict: 'allowed' };
const REFUSED = { level: 'warn', msg: 'refused to start', log: 'audit', verdict: 'refused' };

describe('the event of a line', () => {
  it.each([
    [{ level: 'info', msg: 'stopped' }, 'information', 1],
    [{ level: 'info', msg: 'ready', pid: 7 }, 'information', 11],
    [{ level: 'warn', msg: 'config', key: 'x' }, 'warning', 11],
    [{ level: 'error', msg: 'anything' }, 'error', 1],
    [{ level: 'fatal', msg: 'anything' }, 'error', 4],
    [{ level: 'fatal', msg: 'anything', err: {} }, 'error', 14],
    [REFUSED, 'warning', 11],
    [{ ...ALLOWED, action: 'start' }, 'information', 11],
    [{ ...ALLOWED, action: 'upgrade' }, 'information', 11],
  ])('of %j is a(n) %s with the id %i', (line, type, id) => {
    expect(eventOf({ time: '2026-01-01', ...line })).toMatchObject({ type, id });
  });

  it.each([
    { level: 'debug', msg: 'ready' },
    { level: 'info', msg: 'a run has started', type: 'started' },
    { ...ALLOWED, action: 'wait' },
    { ...ALLOWED, action: 'connect' },
  ])('of %j is none', (line) => {
    expect(eventOf(line)).toBeUndefined();
  });

  it('has the fields in lines of their own', () => {
    expect(
      eventOf({ level: 'info', time: 'x', msg: 'ready', pid: 7, address: 'a b' })?.lines,
    ).toEqual(['ready', 'pid: 7', 'address: a b']);
  });
});

describe('the destination of events', () => {
  const open = () => {
    const events: LogEvent[] = [];
    const destination = createEventDestination({
      report: (event) => events.push(event) > 0,
      close: () => undefined,
      [Symbol.dispose]: () => undefined,
    });
    return { events, write: (line: object) => destination.write(JSON.stringify(line)) };
  };

  it('takes no more refusals than the log bears, and says later how many there were', () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(1000);
    const { events, write } = open();
    for (let index = 0; index < 100; index += 1) write(REFUSED);
    expect(events).toHaveLength(60);
    write({ level: 'error', msg: 'our own' });
    expect(events.at(-1)).toMatchObject({ lines: ['our own'] });
    clock.mockReturnValue(61_000);
    write(REFUSED);
    expect(events).toHaveLength(63);
    expect(events.at(-2)?.lines).toEqual(['events are in the log file only', 'count: 40']);
    clock.mockRestore();
  });

  it('has room for allowed starts when refusals fill their own share (A54)', () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(1000);
    const { events, write } = open();
    for (let index = 0; index < 1000; index += 1) write(REFUSED);
    for (let index = 0; index < 100; index += 1) {
      write({ ...ALLOWED, action: 'start', path: `C:\\${index}.exe` });
    }
    expect(events.filter(({ type }) => type === 'information')).toHaveLength(100);
    clock.mockRestore();
  });
});

it('are the events of the table in docs/windows.md', () => {
  const page = readFileSync(path.join(__dirname, '../../../../../docs/windows.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (\d+) +\| (\d+) +\| (\w+) +\| `(\w+)` +\| .* \|$/gm)].map(
    ([, bare, detailed, type, level]) => ({ bare, detailed, type, level }),
  );
  expect(rows.map(({ level }) => level)).toEqual(['info', 'warn', 'error', 'fatal']);
  for (const { bare, detailed, type = '', level = '' } of rows) {
    const event = (more: object) => eventOf({ level, msg: 'ready', ...more });
    expect(event({})).toMatchObject({ id: Number(bare), type: type.toLowerCase() });
    expect(event({ pid: 7 })).toMatchObject({ id: Number(detailed), type: type.toLowerCase() });
  }
});
