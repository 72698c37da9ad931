import { createLoggerTo } from './logger.js';

it('escapes characters that control a terminal, and writes each record otherwise unchanged', () => {
  const lines: string[] = [];
  const log = createLoggerTo({ debug: false, quiet: false }, { write: (line) => lines.push(line) });
  const text = 'é \u001b[2J\u007f\u009b31m\u202e\u2028\n{"msg":"forged"}\u{e0001}';
  log.info({ text }, 'said');
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
  expect(lines[0]).toMatch(/^[^\n]+\n$/);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ text, msg: 'said', level: 'info' });
});
