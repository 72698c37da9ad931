import { createLoggerTo } from '../../kernel/log/logger.js';
import { logAgentEvent } from './agent-log.js';

it('says why an instruction could not be started', () => {
  const lines: string[] = [];
  const log = createLoggerTo({ debug: false, quiet: false }, { write: (line) => lines.push(line) });
  const about = { source: 'remote', checksum: 'c', instruction: 'a', exitCode: -1, stderrEnd: '' };
  const error = new Error('cannot run "x"');
  logAgentEvent(log, { kind: 'instructionEnded', ...about, error });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    ...about,
    level: 'warn',
    msg: 'an instruction of a plan has ended',
    err: { message: 'cannot run "x"' },
  });
});
