/** @needs releases */
// Kills commands that update or uninstall a node, at a line of the journal or while files disappear. Tries a sample of these moments, or all with
// `--all`.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, beforeEach, describe, it } from 'node:test';
import { numbersTo, sampleOf } from '../testing/sample.js';
import { NodeOnWindows, PATHS } from './node-on-windows.js';
import { until } from './windows-workspace.js';

/** Lines in the journal of a job that changes config and program. */
const LINES = 6;

describe('a command about a node of Windows that was killed', () => {
  let node: NodeOnWindows;
  before(async () => {
    node = await NodeOnWindows.start();
  });
  after(() => node[Symbol.asyncDispose]());
  beforeEach(async () => {
    const { code, reason } = await node.wins('v1.0.0', ['install', '--allow-downgrade']);
    assert.equal(code, 0, reason);
  });

  for (const lines of sampleOf(numbersTo(LINES), 3)) {
    it(`at line ${lines} of the journal of suc is finished or undone by the next one`, async () => {
      const wanted = {
        CATTLE_WINS_DEBUG: String(lines % 2 === 1),
        CATTLE_WINS_ALLOW_DOWNGRADE: 'true',
      };
      await node.crash('v1.1.0', ['suc'], wanted, () => node.journalLines >= lines);
      const skip = { CATTLE_WINS_SKIP_BINARY_UPGRADE: 'true' };
      const next = await node.wins('v1.1.0', ['suc'], skip);
      assert.deepEqual([next.code, next.outcome], [0, 'nothing'], next.reason);
      assert.match(await node.version(), /^v1\.[01]\.0$/);
      const { code, reason } = await node.wins('v1.1.0', ['suc'], wanted);
      assert.equal(code, 0, reason);
      assert.equal(await node.version(), 'v1.1.0');
      assert.match(
        readFileSync(PATHS.config, 'utf8'),
        new RegExp(`debug: ${wanted.CATTLE_WINS_DEBUG}`),
      );
      assert.equal(node.journalLines, 0);
    });
  }

  const moments: readonly (readonly [string, () => boolean])[] = [
    ['the service is', () => !node.isService()],
    ['the program is', () => !existsSync(PATHS.program)],
    ['the config is', () => !existsSync(PATHS.config)],
    ['the source of events is', () => !node.hasEventSource],
    ['the folder of the config is', () => !existsSync(PATHS.configFolder)],
    ['the folder of the manifest is', () => !existsSync(PATHS.stateFolder)],
  ];
  for (const [what, isGone] of sampleOf(moments, 3)) {
    it(`while it uninstalled, when ${what} gone, is finished by the next one`, async () => {
      await node.crash('v1.1.0', ['uninstall'], {}, isGone);
      const { code, kept, reason } = await node.wins('v1.1.0', ['uninstall']);
      assert.deepEqual([code, kept], [0, []], reason);
      assert.deepEqual(node.traces, []);
      await until(() => node.movedPrograms.length === 0);
    });
  }
});
