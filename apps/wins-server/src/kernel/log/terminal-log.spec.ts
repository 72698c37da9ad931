import pino from 'pino';
import { PassThrough } from 'node:stream';
import { createTerminalLog } from './terminal-log.js';

describe('the log on a terminal', () => {
  it('shows logged text without characters that control the terminal', () => {
    const terminal = new PassThrough();
    const logger = pino({ base: null }, createTerminalLog(terminal, {}));
    const path = '/x\u001b[2J\u009b31m\u202egpj.exe\nforged line';
    logger.info({ path, err: new Error(`cannot run ${path}`) }, 'refused');
    const shown = String(terminal.read());
    expect(shown).toContain('refused');
    expect(shown).toContain('\\u001b[2J');
    expect(shown).toContain('\\u009b31m');
    expect(shown).toContain('terminal-log.spec');
    // Only the colours of this program may remain.
    const uncoloured = shown.replaceAll(/\p{Cc}\[[0-9;]*m/gu, '');
    expect(uncoloured.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(uncoloured.split('\n').some((line) => line.startsWith('forged'))).toBe(false);
  });

  it.each([
    [{}, true],
    [{ NO_COLOR: '' }, true],
    [{ NO_COLOR: '1' }, false],
  ])('with %j has colours: %s', (env, hasColours) => {
    const terminal = new PassThrough();
    pino({ base: null }, createTerminalLog(terminal, env)).warn({ port: 1 }, 'said');
    const shown = String(terminal.read());
    expect(shown).toContain('said');
    expect(/\p{Cc}\[[0-9;]*m/u.test(shown)).toBe(hasColours);
  });
});
