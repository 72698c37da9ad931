import { LogLevel } from './logger.js';

describe('the level of the log', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is another for some time, and then that of the config again, also of a later one', () => {
    const logger = { level: 'info' };
    using level = new LogLevel(logger);
    level.set('debug', 60_000);
    expect([logger.level, level.now.until]).toEqual(['debug', new Date(Date.now() + 60_000)]);
    jest.advanceTimersByTime(59_999);
    level.become('silent');
    expect(logger.level).toBe('debug');
    jest.advanceTimersByTime(1);
    expect([logger.level, level.now]).toEqual(['silent', { level: 'silent' }]);
  });

  it('is the last one that was set, for its own time', () => {
    const logger = { level: 'info' };
    using level = new LogLevel(logger);
    level.set('debug', 1000);
    level.set('error', 5000);
    jest.advanceTimersByTime(4999);
    expect(logger.level).toBe('error');
    jest.advanceTimersByTime(1);
    expect(logger.level).toBe('info');
  });

  it('can be given back before its time, and keeps no timer then', () => {
    const logger = { level: 'info' };
    const level = new LogLevel(logger);
    level.set('warn', 1000);
    level.reset();
    expect([logger.level, jest.getTimerCount()]).toEqual(['info', 0]);
    level.set('warn', 1000);
    level[Symbol.dispose]();
    expect([logger.level, jest.getTimerCount()]).toEqual(['info', 0]);
  });
});
