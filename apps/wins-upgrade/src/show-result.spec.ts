import { EXIT, type Answer } from '@wins/base';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import './testing/stand-ins.js';
import type { UpgradeOptions } from './command-of.js';
import { runUpgrade } from './main.js';
import { lockByPipe } from './testing/supervised-service.js';

const OPTIONS: UpgradeOptions = {
  'allow-downgrade': false,
  'dry-run': false,
  'show-result': true,
  debug: false,
  quiet: false,
  apart: false,
  sweep: false,
  'allow-drop': [],
  'known-version': [],
};

describe('the result of the last upgrade', () => {
  let folder: string;
  let service: string;
  let supervisor: Server;

  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-result-')));
    service = path.join(folder, 'service.json');
    const target = path.join(folder, 'wins');
    writeFileSync(target, '');
    writeFileSync(service, JSON.stringify({ command: `"${target}" srv app run` }), { mode: 0o600 });
    mkdirSync(`${target}.upgrade`, { mode: 0o700 });
    supervisor = createServer((socket) => socket.resume().end('{"state":"running"}\n'));
    await once(supervisor.listen(`${service}.control`), 'listening');
  });
  afterEach(async () => {
    await new Promise((resolve) => supervisor.close(resolve));
    rmSync(folder, { recursive: true });
  });

  function shown(text: string, options: Partial<UpgradeOptions> = {}) {
    writeFileSync(path.join(folder, 'wins.upgrade', 'result.json'), text);
    return run(options);
  }

  async function run(options: Partial<UpgradeOptions>) {
    const answers: Answer[] = [];
    const show = (...given: readonly Answer[]) => {
      answers.push(...given);
      return Promise.resolve(true);
    };
    const code = await runUpgrade({ ...OPTIONS, service, ...options }, { show });
    return { code, answers };
  }

  it.each([{}, { id: 'a' }])('shows no character that controls a terminal: %j', async (options) => {
    const reason = 'wanted \u009b2J\u202e';
    const text = JSON.stringify({ id: 'a', outcome: 'refused', reason });
    const { answers } = await shown(text, options);
    expect(answers).toMatchObject([{ value: { reason } }]);
    expect(answers[0]?.text).toContain(String.raw`wanted \u009b2J\u202e`);
  });

  it.each(['', '{"id":'])('is said to be damaged when it is: %j', async (text) => {
    const { code, answers } = await shown(text, { output: 'json' });
    const reason = `cannot read ${folder}/wins.upgrade/result.json: it is not the result of an upgrade`;
    expect([code, answers]).toMatchObject([EXIT.upgrade.failed, [{ value: { reason } }]]);
  });

  it('leaves the cause as it is when a helper cannot write it', async () => {
    const lock = await lockByPipe(`${service}.lock`);
    mkdirSync(path.join(folder, 'wins.upgrade', 'result.json'));
    try {
      const options = { apart: true, 'show-result': false, wait: 1, output: 'json' };
      const { code, answers } = await run(options);
      const reason = expect.stringContaining('another upgrade of it is running') as string;
      expect([code, answers]).toMatchObject([EXIT.upgrade.busy, [{ value: { reason } }]]);
    } finally {
      await lock?.[Symbol.asyncDispose]();
    }
  });
});
