import { chmod, chown, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixFileTrust } from '@wins/trusted-files';
import { readConnectionInfo } from './connecting-store.js';

const INFO = JSON.stringify({
  kubeConfig: JSON.stringify({
    'current-context': 'agent',
    clusters: [{ name: 'agent', cluster: { server: 'https://rancher' } }],
    contexts: [{ name: 'agent', context: { cluster: 'agent', user: 'agent' } }],
    users: [{ name: 'agent', user: { token: 'canary-of-a-token' } }],
  }),
  namespace: 'fleet-default',
  secretName: 'plan',
});

let folder: string;
let file: string;

beforeEach(async () => {
  // `readConnectionInfo` refuses files directly in the system's temporary folder, which is world-writable.
  folder = await mkdtemp(path.join(tmpdir(), 'connection-'));
  file = path.join(folder, 'connection.json');
});
afterEach(() => rm(folder, { recursive: true }));

async function read(info: string | Buffer) {
  await writeFile(file, info, { mode: 0o600 });
  return readConnectionInfo(file, posixFileTrust());
}

async function refusal(reading: Promise<unknown>): Promise<string> {
  const error: unknown = await reading.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'AgentError', code: 'invalidConnection' });
  const { message } = error as Error;
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error)) + message).not.toContain(
    'canary',
  );
  expect(message).toMatch(/^cannot use the connection info ".*connection\.json": /);
  return message;
}

describe('the file of the connection info', () => {
  it('names the server and the Secret', async () => {
    const info = await read(INFO);
    expect([info.access.server.href, info.namespace, info.secretName, info.warnings]).toEqual([
      'https://rancher/',
      'fleet-default',
      'plan',
      [],
    ]);
  });

  it.each([
    ['a text that cannot be used', INFO.replace('agent', 'other'), /found no entry/],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0]), /wanted UTF-8/],
    ['more than a mebibyte', ' '.repeat(1_048_577), /it has more than 1048576 bytes/],
  ])('is refused with %s', async (_title, text, message) => {
    expect(await refusal(read(text))).toMatch(message);
  });

  it('is refused when the file is missing', async () => {
    const reading = readConnectionInfo(file, posixFileTrust());
    expect(await refusal(reading)).toMatch(/: there is no such file or folder$/);
  });

  it('is refused where another user owns it', async () => {
    await read(INFO);
    const uid = process.geteuid?.() ?? 0;
    // Root's files are always trusted, so root gives the file another owner. Other users cannot do that, so they check with another uid.
    if (uid === 0) await chown(file, 12_345, 12_345);
    const trust = posixFileTrust(uid === 0 ? 0 : uid + 1);
    expect(await refusal(readConnectionInfo(file, trust))).toMatch(/belongs to/);
  });

  it('is refused where others could have written it', async () => {
    await read(INFO);
    await chmod(file, 0o666);
    expect(await refusal(readConnectionInfo(file, posixFileTrust()))).toMatch(/writ/);
    await chmod(file, 0o600);
    const link = path.join(folder, 'link-to-connection.json');
    await symlink(file, link);
    expect(await refusal(readConnectionInfo(link, posixFileTrust()))).toMatch(/symbolic link/);
  });
});
