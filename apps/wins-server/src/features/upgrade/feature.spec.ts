import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { DaemonEvents, type DaemonEvent } from '../../kernel/daemon-events.js';
import { FeatureSwitch } from '../../kernel/feature-switch.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { upgrade } from './feature.js';

it('an ended upgrade is told only once it is recorded, because the record is taken again until then', async () => {
  const upgradeRecords = mkdtempSync(path.join(tmpdir(), 'wins-upgrade-feature-'));
  writeFileSync(path.join(upgradeRecords, 'record-1.json'), '{"outcome": "upgraded"}');
  const events = new DaemonEvents();
  const told: DaemonEvent[] = [];
  events.subscribe((event) => told.push(event));
  const lines: string[] = [];
  const audit = { decided: () => Promise.reject(new Error('the disk is full')) };
  const one = new FeatureSwitch(upgrade, kernelOf({ upgradeRecords, events, audit }, lines));
  await one.begin({ watched: undefined });
  while (!lines.some((line) => line.includes('the disk is full'))) await turn();
  expect(told).toEqual([]);
  await one.close();
  rmSync(upgradeRecords, { recursive: true });
});
