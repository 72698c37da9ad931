import { serviceControlManager } from '@wins/windows-host';
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startProgram } from '../testing/built-program.js';
import { WINS } from '../testing/workspace.js';
import { WindowsWorkspace } from './windows-workspace.js';

const NAME = 'rancher-wins';
/** The config that is read without `--config`. */
const CONFIG = 'C:\\etc\\rancher\\wins\\config';

/** Spellings of one path that Windows reads alike. */
const SPELLINGS: readonly ((file: string) => string)[] = [
  (file) => file.replaceAll('\\', '/'),
  (file) => file.toLowerCase().replaceAll('\\', '/'),
  (file) => file.replace('\\', '/'),
  (file) => file.replaceAll('\\', '\\\\').replace('\\\\', '\\'),
  (file) => `${file.slice(0, 1).toLowerCase()}${file.slice(1).replaceAll('\\', '/\\')}`,
];

describe('wins doctor on a good node of Windows', () => {
  const workspace = new WindowsWorkspace();
  const services = serviceControlManager();
  const tool = workspace.program('tool');
  const programs = SPELLINGS.map((spell, index) =>
    spell(workspace.write(`programs\\listed-${index}.exe`, '')),
  );
  const slashed = (name: string): string => workspace.path(name).replaceAll('\\', '/');
  const writeConfig = (processPaths: readonly string[], more: object = {}): void => {
    const { listen, proxy } = workspace;
    const content = { listen, proxy, white_list: { processPaths }, ...more };
    writeFileSync(CONFIG, JSON.stringify(content));
  };
  const GOOD = {
    audit: { directory: slashed('audit') },
    upgrade: { mode: 'watching', watchingPath: slashed('new/wins.exe') },
    // The other folders of the agent have defaults that are written with slashes, too.
    systemagent: { localEnabled: true, localPlanDirectory: slashed('plans') },
  };
  async function doctor(...args: string[]): Promise<{ code: number | null; report: string }> {
    const { code, stdout, stderr } = await workspace.run('doctor', ...args);
    return { code, report: `${String(stdout)}${stderr}` };
  }

  before(async () => {
    assert.throws(() => services.status(NAME), { code: 'notFound' });
    mkdirSync(path.dirname(CONFIG), { recursive: true });
    writeConfig([tool.replaceAll('\\', '/'), ...programs], GOOD);
    const { code, stderr } = await workspace.run('srv', 'app', 'run', '--register');
    assert.equal(code, 0, stderr);
    await services.start(NAME);
  });
  after(async () => {
    await workspace.run('srv', 'app', 'run', '--unregister');
    await workspace.remove();
    rmSync('C:\\etc', { recursive: true });
  });

  it('finds no fault in the default config, its entries and its folders, however they are spelled', async () => {
    const run = await workspace.client('prc', 'run', '--path', tool, '--', '-e', '0').outcome;
    assert.equal(run.code, 0, run.stderr);
    const { code, report } = await doctor();
    assert.equal(code, 0, report);
    for (const program of [tool.replaceAll('\\', '/'), ...programs])
      assert.ok(report.includes(`${program} may run`), `${program}\n${report}`);
    assert.match(report, /C:\/var\/lib\/rancher\/agent\/work (can be used|does not exist yet)/);
  });

  it('finds none in a config that is named in another way', async () => {
    const named = 'c:/ETC\\rancher/../rancher\\.\\wins\\\\config';
    const { code: found, report } = await doctor('--config', named);
    assert.equal(found, 0, report);
    const relative = startProgram(
      process.execPath,
      [WINS, 'doctor', '--config', '..\\wins/config'],
      process.env,
      {
        cwd: path.dirname(CONFIG),
      },
    );
    const { code, stdout } = await relative.outcome;
    assert.equal(code, 0, String(stdout));
  });

  it('still reports an entry that Windows would read as another path', async () => {
    const odd = [
      `${tool}.`,
      `${tool} `,
      tool.replace('programs', 'programs.'),
      tool.replace('programs', 'x\\..\\programs'),
    ];
    writeConfig(odd);
    const { code, report } = await doctor();
    assert.equal(code, 2, report);
    for (const index of odd.keys()) {
      const reported = new RegExp(
        `^problem +(?:whitelist|config) .*processPaths\\[${index}\\]`,
        'm',
      );
      assert.match(report, reported);
    }
  });
});
