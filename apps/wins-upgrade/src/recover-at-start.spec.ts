import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type UpgradeRecord, type RecoverOptions } from '@wins/service-upgrade';
import './testing/stand-ins.js';
import { recoverUpgrade } from './main.js';

const OLD = { sha256: 'a'.repeat(64), sha1: 'a'.repeat(40) };
const NEW = { sha256: 'b'.repeat(64), sha1: 'b'.repeat(40), version: 'v1.1.0' };
const ARGS = ['srv', 'app', 'run'];

describe('a daemon that starts after an upgrade came to no end', () => {
  let folder: string;
  let service: string;
  let target: string;
  let staged: string;
  let supervisor: Server;

  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-recover-')));
    service = path.join(folder, 'service.json');
    target = path.join(folder, 'wins');
    staged = path.join(`${target}.upgrade`, 'wins-1.1.0');
    mkdirSync(`${target}.upgrade`, { mode: 0o700 });
    for (const file of [target, staged]) writeFileSync(file, file, { mode: 0o755 });
    supervisor = createServer((socket) => socket.resume().end('{"state":"running"}\n'));
    await once(supervisor.listen(`${service}.control`), 'listening');
  });
  afterEach(async () => {
    await new Promise((resolve) => supervisor.close(resolve));
    rmSync(folder, { recursive: true });
  });

  const names = (program: string): void =>
    writeFileSync(service, JSON.stringify({ command: `"${program}" ${ARGS.join(' ')}` }), {
      mode: 0o600,
    });
  const named = (): unknown =>
    (JSON.parse(readFileSync(service, 'utf8')) as { command: unknown }).command;
  const journal = (change: Partial<UpgradeRecord>): void => {
    const record: UpgradeRecord = {
      phase: 'trial',
      id: 'x',
      staged,
      from: OLD,
      to: NEW,
      disturbed: true,
      oldCommand: { imagePath: target, args: ARGS },
      newCommand: { imagePath: target, args: ARGS },
      pipe: 'p',
      oldPipe: 'p',
      ...change,
    };
    const text = JSON.stringify({ format: 1, ...record });
    writeFileSync(`${target}.upgrade/journal.json`, text);
  };
  const recover = (change: Partial<RecoverOptions> = {}) =>
    recoverUpgrade({ runningFile: target, serving: Promise.resolve(), service, ...change });
  const result = (): unknown =>
    JSON.parse(readFileSync(`${target}.upgrade/result.json`, 'utf8')) as unknown;

  it('says that the release before serves again when it does, and not sooner', async () => {
    names(staged);
    journal({});
    const serving = Promise.reject(new Error('it does not serve'));
    await expect(recover({ serving })).rejects.toThrow('it does not serve');
    expect(existsSync(`${target}.upgrade/result.json`)).toBe(false);
    expect(named()).toContain(`"${target}" `);
    expect(await recover()).toMatchObject({ outcome: 'rolledBack', restart: false });
    expect(result()).toMatchObject({ outcome: 'rolledBack', interrupted: true });
    expect(existsSync(`${target}.upgrade/journal.json`)).toBe(false);
  });

  it('says of one that had touched nothing that it was only interrupted', async () => {
    names(target);
    journal({ phase: 'staging', disturbed: false });
    expect(await recover()).toMatchObject({ outcome: 'refused' });
    expect(result()).toMatchObject({ outcome: 'refused', interrupted: true });
  });

  it('takes a loan back of which the journal does not know', async () => {
    names(staged);
    journal({ phase: 'staging', disturbed: false });
    expect(await recover({ runningFile: staged })).toMatchObject({
      outcome: 'rolledBack',
      restart: true,
    });
    expect(named()).toContain(`"${target}" `);
    expect(existsSync(staged)).toBe(false);
  });
});
