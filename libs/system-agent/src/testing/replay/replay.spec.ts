import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { FakeClock, createCertificateAuthority } from '@wins/base/testing';

import { playedFiles, recordedFiles, type ComparedFiles } from './compare-files.js';
import { type ComparedVersion, playedVersions, recordedVersions } from './compare-versions.js';
import { ProbeTarget } from './probe-target.js';
import { readRecording, type Recording } from './recording.js';
import { ScenarioPlayer } from './scenario-player.js';
import { type Scenario, SCENARIOS } from './scenarios.js';
import { ServedSecrets } from './served-secrets.js';

/** Tolerance: the recorded agent took real time, but this agent runs on a fake clock. */
const WITHIN_SECONDS = 0.6;

describe('a recorded scenario of the original agent, played to ours', () => {
  let folder: string;
  let target: ProbeTarget;
  let clock: FakeClock;
  let secrets: ServedSecrets;
  const authority = createCertificateAuthority('api-server-double');

  beforeEach(async () => {
    clock = new FakeClock();
    secrets = await ServedSecrets.start(clock, { authority });
    folder = mkdtempSync(path.join(tmpdir(), 'replay-'));
    target = new ProbeTarget();
    await target.listen();
  });

  afterEach(async () => {
    await target.close();
    await secrets.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const play = async (name: string): Promise<{ player: ScenarioPlayer; recording: Recording }> => {
    const { before, deeds } = SCENARIOS[name] ?? {};
    const recording = readRecording(name, folder, target.url);
    const player = new ScenarioPlayer(recording, folder, target, secrets, clock, deeds);
    await before?.(folder);
    await player.play();
    return { player, recording };
  };

  const names = (differs: boolean): string[] =>
    Object.keys(SCENARIOS).filter(
      (name) => (SCENARIOS[name]?.difference !== undefined) === differs,
    );

  const compare = async (name: string): Promise<void> => {
    const scenario = SCENARIOS[name] ?? {};
    const { player, recording } = await play(name);
    const played = playedVersions(player.written).map((version) => without(version, scenario));
    const wanted = expected(recording, scenario).map((version) => without(version, scenario));
    expect(played.map(({ data }) => data)).toEqual(wanted.map(({ data }) => data));
    if (!scenario.timesDiffer) expect(late(played, wanted)).toEqual([]);
    const compared = (files: ComparedFiles): ComparedFiles =>
      files.filter(([name]) => !scenario.historyDiffers || !name.startsWith('applied/'));
    if (!scenario.filesDiffer)
      expect(compared(playedFiles(folder))).toEqual(compared(recordedFiles(recording)));
  };

  it.each(names(false))(
    '%s: the Secret has the same versions, and the node the same files',
    compare,
  );

  it.each(names(true).map((name) => [name, SCENARIOS[name]?.difference ?? '']))(
    '%s: the same, but %s',
    compare,
  );

  it('big-hang: a line that hung the original for ever is saved', async () => {
    const { player } = await play('big-hang');
    const [version] = playedVersions(player.written);
    expect(JSON.stringify(version?.data['applied-output'])).toMatch(
      /"first\\nA{300000}\\nafter\\n"/,
    );
  });
});

function expected(recording: Recording, scenario: Scenario): ComparedVersion[] {
  const {
    notWritten = [],
    writtenLater = {},
    at = {},
    replaced = (json: string) => json,
  } = scenario;
  const { secretVersions } = recording;
  const versions = secretVersions
    .filter(({ t }) => !notWritten.includes(t) && writtenLater[t] === undefined)
    .map((version) => {
      const earlier = secretVersions.filter(({ t }) => writtenLater[t] === version.t);
      const sets = [...earlier, version].flatMap(({ set }) => Object.entries(set));
      return { ...version, set: Object.fromEntries(sets) };
    });
  if (scenario.alsoWritten) versions.push(scenario.alsoWritten);
  return recordedVersions(recording, versions).map(({ t, data }) => ({
    t: at[t] ?? t,
    data: JSON.parse(replaced(JSON.stringify(data))) as ComparedVersion['data'],
  }));
}

function without(version: ComparedVersion, { notCompared = [] }: Scenario): ComparedVersion {
  const json = JSON.stringify(version, (key, value: unknown) =>
    notCompared.includes(key) ? undefined : value,
  );
  return JSON.parse(json) as ComparedVersion;
}

function late(played: readonly ComparedVersion[], wanted: readonly ComparedVersion[]): string[] {
  return played.flatMap(({ t }, index) => {
    const recorded = wanted[index]?.t ?? 0;
    return Math.abs(t - recorded) > WITHIN_SECONDS
      ? [`version ${index}: ${t} s, not ${recorded} s`]
      : [];
  });
}
