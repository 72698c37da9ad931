import { once } from 'node:events';
import {
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type UpgradeRecord, type UpgradeResult } from '@wins/service-upgrade';
import './testing/stand-ins.js';
import { latestUpgrade, offerUpgrade } from './main.js';

const SHA256 = 'ab'.repeat(32);

describe('a program that a daemon offers', () => {
  let folder: string;
  let service: string;
  let target: string;
  let program: string;
  let supervisor: Server;

  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-offer-')));
    service = path.join(folder, 'service.json');
    target = path.join(folder, 'wins');
    program = path.join(folder, 'offered');
    writeFileSync(program, 'not a program at all');
    // The installed program writes down its arguments.
    const source = `#!/bin/sh\nfor word; do echo "$word"; done > ${folder}/words.tmp\nmv ${folder}/words.tmp ${folder}/words\n`;
    writeFileSync(target, source, { mode: 0o755 });
    writeFileSync(service, JSON.stringify({ command: `"${target}" srv app run` }), { mode: 0o600 });
    supervisor = createServer((socket) => socket.resume().end('{"state":"running"}\n'));
    await once(supervisor.listen(`${service}.control`), 'listening');
  });
  afterEach(async () => {
    await new Promise((resolve) => supervisor.close(resolve));
    rmSync(folder, { recursive: true });
  });

  const offer = (changes: { program?: string; signal?: AbortSignal } = {}) =>
    offerUpgrade({
      program,
      sha256: SHA256,
      service,
      runningFile: target,
      signal: new AbortController().signal,
      ...changes,
    });
  const words = async (): Promise<string[]> => {
    while (!existsSync(`${folder}/words`)) await delay(5);
    return readFileSync(`${folder}/words`, 'utf8').trim().split('\n');
  };
  const result = (latest: Partial<UpgradeResult>): void => {
    mkdirSync(`${target}.upgrade`, { mode: 0o700, recursive: true });
    const whole = {
      id: 'x',
      outcome: 'rolledBack',
      reason: 'why',
      to: { sha256: SHA256 },
      ...latest,
    };
    writeFileSync(`${target}.upgrade/result.json`, JSON.stringify(whole));
  };
  const helpers = () =>
    readdirSync(`${target}.upgrade`).filter((name) => name.startsWith('helper-'));

  it('is taken by a copy of what is installed, which takes these bytes only and nothing older', async () => {
    const outcome = await offer();
    expect(outcome).toEqual({
      kind: 'handedOver',
      id: expect.stringMatching(/^watched-1-/) as string,
    });
    expect(await words()).toEqual([
      'up',
      '--apart',
      `--path=${program}`,
      `--sha256=${SHA256}`,
      `--service=${service}`,
      `--id=${'id' in outcome ? outcome.id : ''}`,
      '--attempt=1',
    ]);
    expect(helpers()).toHaveLength(1);
  });

  it.each<[string, Partial<UpgradeResult>]>([
    ['rolled back', {}],
    ['refused', { outcome: 'refused' }],
    ['given up', { outcome: 'failed' }],
    ['interrupted three times', { interrupted: true, attempt: 3 }],
  ])('is not taken when it was %s the last time', async (_what, latest) => {
    result(latest);
    const { outcome = 'rolledBack', reason = 'why' } = latest;
    expect(await offer()).toEqual({ kind: 'tried', outcome, reason });
    expect(helpers()).toEqual([]);
  });

  it.each<[string, Partial<UpgradeResult>, string]>([
    ['another one was rolled back', { to: { sha256: 'cd'.repeat(32) } }, 'watched-1-'],
    ['it was in place before', { outcome: 'upgraded' }, 'watched-1-'],
    ['its upgrade was interrupted', { interrupted: true, attempt: 1 }, 'watched-2-'],
    ['a release without numbers began it', { interrupted: true, id: 'watched-3-x' }, 'watched-1-'],
    ["an operator's upgrade to it was interrupted", { interrupted: true }, 'watched-1-'],
    ['the result makes no sense', { outcome: 'odd' as 'failed' }, 'watched-1-'],
  ])('is taken when %s', async (_what, latest, id) => {
    result(latest);
    expect(await offer()).toMatchObject({
      kind: 'handedOver',
      id: expect.stringContaining(id) as string,
    });
    await words();
  });

  it('is taken again when power failed before the service was touched', async () => {
    const command = { imagePath: target, args: ['srv', 'app', 'run'] };
    const journal: UpgradeRecord = {
      phase: 'staging',
      id: 'x',
      attempt: 1,
      staged: `${target}.upgrade/wins-1.1.0`,
      to: { sha256: SHA256, sha1: 'ab'.repeat(20) },
      oldCommand: command,
      newCommand: command,
      pipe: 'p',
      oldPipe: 'p',
      disturbed: false,
    };
    mkdirSync(`${target}.upgrade`, { mode: 0o700 });
    writeFileSync(`${target}.upgrade/journal.json`, JSON.stringify({ format: 1, ...journal }));
    expect(await offer()).toMatchObject({
      id: expect.stringMatching(/^watched-2-/) as string,
    });
    await words();
  });

  it('is not taken when the daemon ends meanwhile', async () => {
    const reason = new Error('the daemon ends');
    const offered = offer({ signal: AbortSignal.abort(reason) });
    await expect(offered).rejects.toMatchObject({ code: 'aborted', cause: reason });
    expect(existsSync(`${folder}/words`)).toBe(false);
  });

  it('is not the program of the service itself, by whatever name', async () => {
    linkSync(target, `${program}-too`);
    for (const same of [target, `${program}-too`]) {
      await expect(offer({ program: same })).rejects.toMatchObject({ code: 'refused' });
    }
    expect(existsSync(`${target}.upgrade`)).toBe(false);
  });

  it('is told of by the latest result', async () => {
    expect(await latestUpgrade(service)).toBeUndefined();
    result({});
    expect(await latestUpgrade(service)).toMatchObject({ outcome: 'rolledBack', reason: 'why' });
  });
});
