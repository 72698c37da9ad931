import { Metadata } from '@grpc/grpc-js';
import { routeGrpcLog } from './route-grpc-log.js';

describe('what grpc-js logs', () => {
  let lines: string[];
  beforeEach(() => {
    jest.useFakeTimers();
    lines = [];
    routeGrpcLog((line) => lines.push(line));
  });
  afterEach(() => jest.useRealTimers());
  const say = (value: string) => Metadata.fromHttp2Headers({ 'x-evil': `\u009b31m${value}` });

  it('goes to the function, and not to the console', () => {
    const onConsole = jest.spyOn(console, 'error');
    say('\u00ff');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^Failed to add metadata entry x-evil: \\u009b31mÿ/);
    expect(onConsole).not.toHaveBeenCalled();
  });

  it('is limited in length, and cannot control a terminal', () => {
    say(`\u001b[2J\r\n\u202e${'x'.repeat(1_000_000)}`);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/\\u009b31m\\u001b\[2J\\u000d\\u000a\\u202ex{100}/);
    expect(lines[0]?.length).toBeLessThan(600);
  });

  it('is limited to ten lines a second, and the number of further lines', () => {
    for (let index = 0; index < 1000; index += 1) say(`line ${index}`);
    expect(lines).toHaveLength(10);
    jest.advanceTimersByTime(1000);
    expect(lines.slice(10)).toEqual(['990 more lines of gRPC were omitted']);
    say('another second');
    jest.advanceTimersByTime(1000);
    expect(lines.slice(11)).toEqual([expect.stringContaining('another second')]);
  });
});
