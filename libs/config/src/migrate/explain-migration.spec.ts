import { parseConfig } from '../parse/parse-config.js';
import { explainMigration } from '../explain/config-keys.js';

const OLD = `white_list:
  processPaths:
    - 'c:\\etc\\"x" # y.exe'
    - path: c:/helper.exe
      sha256: ${'ab'.repeat(32)}
      mayBreakAway: true
      argv0: listed
    - {path: c:/z.exe, envs: any, args: [[-c, {pathUnder: c:/etc}]], directories: c:/d, for: [administrators]}
  proxyPorts: [9796]
processEnvironment: {A: "b: c"}
routes: {allow: [10.42.0.0/16]}
`;

it('is a config that means the same, with every key that grants something', () => {
  const { config } = parseConfig(OLD);
  const text = explainMigration(config);
  const { config: again, warnings } = parseConfig(text, { strict: true });
  expect(warnings).toEqual([]);
  const explicit = config.whiteList.processPaths.map((entry) => ({ args: 'any', ...entry }));
  expect(text).toContain('routes:\n  allow: ["10.42.0.0/16"]\n');
  expect(again).toEqual({ ...config, whiteList: { ...config.whiteList, processPaths: explicit } });
  expect(text.match(/^ {6}(?:envs|args|directories): /gm)).toHaveLength(9);
});

it('is valid for a config that allows nothing', () => {
  expect(parseConfig(explainMigration(parseConfig('').config)).config).toEqual(
    parseConfig('').config,
  );
});

it('grants the upgrade helper that it outlives the daemon, without which "cli upgrade" fails', () => {
  const helper = 'C:\\etc\\rancher\\wins\\wins-upgrade.exe';
  const text = `white_list: {processPaths: ['${helper}', 'C:\\tools\\a.exe']}`;
  const read = (yaml: string) => parseConfig(yaml, { platform: 'win32' }).config;
  const { processPaths } = read(explainMigration(read(text))).whiteList;
  expect(processPaths.map(({ mayBreakAway }) => mayBreakAway)).toEqual([true, undefined]);
});
