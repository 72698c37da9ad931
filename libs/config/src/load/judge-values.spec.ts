import { ConfigError, judgeValues, parseConfig, type JudgedValue } from '../index.js';

const TEXT =
  'listen: a\nwhite_list:\n  processPaths:\n    - /x\n    - /y\nsystemagent:\n  remoteEnabled: true\ndebgu: 1\n';
const loaded = { ...parseConfig(TEXT), path: '/etc/config', found: true };
const judged = (keyPath: string, severity: JudgedValue['severity'] = 'warning') =>
  ({ severity, keyPath, found: 'x', expected: 'y', nextStep: 'do z' }) as const;

it('adds warnings at the locations of their keys, entries and sections, in the order of the file', () => {
  const values = [judged('systemagent'), judged('proxy'), judged('white_list.processPaths[1]')];
  const { warnings, config } = judgeValues(loaded, values);
  expect(config).toBe(loaded.config);
  expect(warnings.map(({ keyPath, line }) => [keyPath, line])).toEqual([
    ['white_list.processPaths[1]', 5],
    ['systemagent', 7],
    ['debgu', 8],
    ['proxy', undefined],
  ]);
  expect(warnings[0]).toMatchObject({
    code: 'wrongValue',
    nextStep: 'do z',
    message: '/etc/config:5:7: white_list.processPaths[1]: found x, expected y; do z',
  });
});

it('fails with all that is known when one of them is an error', () => {
  const values = [judged('listen', 'error'), judged('systemagent')];
  expect(() => judgeValues(loaded, values)).toThrow(ConfigError);
  try {
    judgeValues(loaded, values);
  } catch (error) {
    const { problems, message } = error as ConfigError;
    expect(problems.map(({ keyPath }) => keyPath)).toEqual(['listen', 'systemagent', 'debgu']);
    expect(message).toBe('/etc/config:1:9: listen: found x, expected y; do z');
  }
});

it('gives a config back as it is when nothing was found', () => {
  expect(judgeValues(loaded, [])).toBe(loaded);
});
