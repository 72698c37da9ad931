import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PlanNode } from '../testing/agent/plan-node.js';
import { startProgram } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { standInExecutable } from '../testing/packages/package-folder.js';
import { nodeLines } from '../testing/packages/package-user.js';
import { ROOT, WINS } from '../testing/workspace.js';

/** An archive in two frames, each behind a skippable one. */
const ARCHIVE = path.join(ROOT, 'libs/system-agent/src/testing/fixtures/archives/img.tar.zst');

describe('an image in an archive that zstd has compressed', () => {
  let node: PlanNode;
  beforeEach(() => (node = new PlanNode()));
  afterEach(() => node[Symbol.asyncDispose]());

  function start(file: string, ...args: readonly string[]): Daemon {
    const images = path.join(node.home, 'images');
    mkdirSync(images, { recursive: true });
    copyFileSync(ARCHIVE, path.join(images, 'img.tar.zst'));
    const command = '/bin/sh';
    const script = ['-c', `cp run.sh ${node.workspace.path('unpacked')}`];
    const instruction = { name: 'copy', image: '127.0.0.1:1/img:v1', command, args: script };
    node.localPlan('image.plan', { instructions: [instruction] });
    const config = node.config({ localEnabled: true });
    const served = [...args, 'srv', 'app', 'run', '--config', config];
    return Daemon.of(startProgram(file, served, node.workspace.environment));
  }
  async function expectUnpacked(daemon: Daemon): Promise<void> {
    await daemon.logged(({ msg }) => msg === 'a plan was applied');
    expect(readFileSync(node.workspace.path('unpacked'), 'utf8')).toBe('hello');
  }
  const lines = [...nodeLines()];
  const isOld = ([version]: readonly [string, string]) => Number.parseInt(version, 10) < 26;

  it('is unpacked by the executable', async () => {
    await using daemon = start(standInExecutable());
    await expectUnpacked(daemon);
  });

  it.each(lines.filter((line) => !isOld(line)))('is unpacked on Node %s', async (_, file) => {
    await using daemon = start(file, WINS);
    await expectUnpacked(daemon);
  });

  it.each(lines.filter((line) => !isOld(line)))(
    'is judged as the unit specs say, on Node %s',
    (_, file) => {
      // Unit specs leave zstd out on an older Node.
      const { WINS_TEST_TIER: _tier, ...env } = process.env;
      const specs = ['src/images/compression.spec.ts', 'src/images/archives.spec.ts'];
      const jest = path.join(ROOT, 'node_modules/jest/bin/jest.js');
      const cwd = path.join(ROOT, 'libs/system-agent');
      execFileSync(file, [jest, ...specs], { cwd, env, stdio: 'pipe' });
    },
  );

  it.each(lines.filter(isOld))(
    'is refused on Node %s, by a message that names the Node which reads it',
    async (version, file) => {
      await using daemon = start(file, WINS);
      const refusal = `found zstd data, which Node ${version} cannot read; wanted gzip data, or Node 26 or later`;
      await daemon.logged((record) => JSON.stringify(record).includes(refusal));
    },
  );
});
