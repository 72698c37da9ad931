import { ConfigError } from '@wins/config';
import { PipeError } from '@wins/pipe-transport';
import { createLoggerTo } from './kernel/log/logger.js';
import { logStartFailure } from './start-failure.js';

describe('why the daemon cannot start', () => {
  function logged(error: unknown, debug = false): Record<string, unknown> {
    const lines: string[] = [];
    const logger = createLoggerTo({ debug, quiet: false }, { write: (line) => lines.push(line) });
    logStartFailure(logger, error, '/etc/a config');
    expect(lines).toHaveLength(1);
    return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  }
  const problem = (message: string) =>
    ({
      severity: 'error',
      code: 'wrongType',
      keyPath: 'x',
      message,
      nextStep: 'write a number',
    }) as never;

  it('is one line with its code, the exit code and the next step', () => {
    expect(logged(new PipeError('inUse', 'another program serves the pipe "x"'))).toEqual({
      level: 'fatal',
      time: expect.any(String) as string,
      code: 'inUse',
      exitCode: 69,
      next: 'stop the other daemon, or change "listen" and "proxy" in the config',
      msg: 'the daemon cannot start: another program serves the pipe "x"',
    });
  });

  it('has the next step of a problem that stands alone', () => {
    const error = new ConfigError('invalid', [problem('only')]);
    expect(logged(error)).toMatchObject({
      next: 'write a number',
      msg: 'the daemon cannot start: only',
    });
  });

  it('has all problems of a config', () => {
    const error = new ConfigError('invalid', [problem('first'), problem('second')]);
    expect(logged(error)).toMatchObject({
      code: 'invalid',
      exitCode: 78,
      problems: ['first', 'second'],
      next: 'run: wins srv config check --config "/etc/a config"',
      msg: 'the daemon cannot start: found 2 problems',
    });
    const problems = Array.from({ length: 25 }, (_, index) => problem(`problem ${index}`));
    expect(logged(new ConfigError('invalid', problems))).toMatchObject({
      msg: 'the daemon cannot start: found 25 problems',
    });
  });

  it('has the stack of what no library foresaw, and of everything at debug level', () => {
    expect(logged(new TypeError('oops'))).toMatchObject({
      exitCode: 70,
      next: 'run: wins doctor --config "/etc/a config"',
      err: { stack: expect.stringContaining('start-failure.spec') as string },
    });
    expect(logged(new PipeError('busy', 'x'), true)).toHaveProperty('err');
  });
});
