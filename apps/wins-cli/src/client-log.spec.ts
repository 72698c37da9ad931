import { ClientLog, type ClientLogOptions } from './client-log.js';

describe('the log of the client', () => {
  function logged(options: ClientLogOptions, text = 'the tunnel is ready'): string {
    let lines = '';
    const log = new ClientLog(options, (line) => (lines += line));
    log.debug('connected', { ms: 2.1, code: undefined });
    log.info(text, { ports: [80] });
    return lines;
  }

  it('is the message for people', () => {
    expect(logged({})).toBe('wins: the tunnel is ready\n');
  });

  it('is an object with its time for programs', () => {
    const line = logged({ 'log-format': 'json' });
    expect(line).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(line)).toEqual({
      level: 'info',
      ports: [80],
      msg: 'the tunnel is ready',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
    });
  });

  it('has more lines for who asks for them, with times and facts', () => {
    expect(logged({ debug: true })).toMatch(
      /^wins: \d{4}-\d\d-\d\dT[\d:.]+Z connected ms=2\.1\nwins: t/,
    );
    const [first = ''] = logged({ debug: true, 'log-format': 'json' }).split('\n');
    expect(JSON.parse(first)).toMatchObject({ level: 'debug', ms: 2.1, msg: 'connected' });
  });

  it('is empty when it must be quiet', () => {
    expect(logged({ debug: true, quiet: true })).toBe('');
  });

  it.each(['pretty', 'json'] as const)('cannot control a terminal as %s', (format) => {
    const line = logged({ 'log-format': format }, 'a\u001b[2J\n{"level":"fatal"}\u202e');
    expect(line).toMatch(/^\P{C}+\n$/u);
  });
});
