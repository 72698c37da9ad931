import { howToDrop } from '../features/config/dropped-keys.js';
import { howToAllow } from './allowed-executables.js';

it.each([
  ['drop a key', howToDrop('C:\\wins\\config', ['systemagent']), 'C:\\wins\\config'],
  ['allow a program', howToAllow('/etc/a config'), '"/etc/a config"'],
])('the advice how to %s has the path of the config as a shell takes it', (_what, advice, word) => {
  expect(advice).toContain(` --config ${word} `);
});
