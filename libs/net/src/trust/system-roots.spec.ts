import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createCertificateAuthority } from '@wins/base/testing';
import { systemRoots } from './system-roots.js';

const onLinux = process.platform === 'linux' ? it : it.skip;
if (onLinux === it.skip)
  process.stderr.write('SKIPPED: SSL_CERT_FILE, which is read on Linux alone\n');

describe('the authorities of the system', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'roots-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('are certificates', () => {
    expect(systemRoots({}).join('')).toContain('-----BEGIN CERTIFICATE-----');
  });

  onLinux('are those of the file that SSL_CERT_FILE names', async () => {
    const file = path.join(folder, 'roots.pem');
    const { cert } = createCertificateAuthority('of the administrator');
    await writeFile(file, cert);
    expect(systemRoots({ SSL_CERT_FILE: file })).toEqual([cert]);
  });

  onLinux(
    'are an empty list when that file is missing: others are not trusted in its place',
    () => {
      expect(systemRoots({ SSL_CERT_FILE: path.join(folder, 'missing.pem') })).toEqual([]);
    },
  );
});
