import { CODE_SIGNING, createCertificateAuthority, type KeyPair } from '@wins/base/testing';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  describeSigned,
  refusalOf,
  signProgram,
  smallProgram,
  thumbprintOf,
} from '../testing/signing.js';

const SIGNS = { purposes: [CODE_SIGNING] };
const authority = createCertificateAuthority('authority');
const signer = authority.issue('signer', [], SIGNS);
const stranger = authority.issue('stranger', [], SIGNS);
const BY_SIGNER = [thumbprintOf(signer)];
const program = smallProgram();

describeSigned('a program with several signatures', () => {
  it('is taken by a signature that was added to that of another signer', async () => {
    const first = signProgram(program, stranger, [authority]);
    const both = signProgram(first, signer, [authority], ['-nest']);
    for (const listed of [signer, stranger])
      expect(await refusalOf(both, [thumbprintOf(listed)])).toBeUndefined();
    const found = await refusalOf(both, ['00'.repeat(32)]);
    expect(found).toMatch(/^found "CN=stranger" .*; further found "CN=signer"/);
  });

  it('is taken by its SHA-256, beside a SHA-1 that does not count', async () => {
    const weak = signProgram(program, signer, [], ['-h', 'sha1']);
    expect(await refusalOf(weak, BY_SIGNER)).toContain('its digest is weaker than SHA-256');
    for (const [one, other] of [
      ['sha1', 'sha256'],
      ['sha256', 'sha1'],
    ] as const) {
      const first = signProgram(program, signer, [], ['-h', one]);
      const both = signProgram(first, signer, [], ['-h', other, '-nest']);
      expect(await refusalOf(both, BY_SIGNER)).toBeUndefined();
    }
  });

  it('is refused when the added signature is for another program', async () => {
    const changed = Buffer.from(program);
    changed.fill('changed ', 0x500);
    const first = signProgram(program, stranger);
    const both = signProgram(first, signer, [], ['-nest']);
    const content = Buffer.concat([changed, both.subarray(program.length)]);
    // The headers name the table at the same place.
    both.copy(content, 0, 0, 0x200);
    expect(await refusalOf(content, BY_SIGNER)).toContain('changed after it was signed');
  });

  it('is refused with more than eight of them', async () => {
    let bytes = signProgram(program, stranger);
    for (let count = 1; count < 8; count += 1) bytes = signProgram(bytes, signer, [], ['-nest']);
    expect(await refusalOf(bytes, BY_SIGNER)).toBeUndefined();
    bytes = signProgram(bytes, signer, [], ['-nest']);
    expect(await refusalOf(bytes, BY_SIGNER)).toContain('it has 9 signatures; wanted at most 8');
  });
});

describeSigned('a signed program', () => {
  it.each(['sha384', 'sha512'])('may have a digest with %s', async (hash) => {
    const bytes = signProgram(program, signer, [authority], ['-h', hash]);
    expect(await refusalOf(bytes, [authority.cert])).toBeUndefined();
    const changed = Buffer.from(bytes);
    changed.write('X', 0x480);
    expect(await refusalOf(changed, [authority.cert])).toContain('changed after it was signed');
  });

  it('may have a description, an address, page hashes, and a blob that nobody signed', async () => {
    const more = ['-n', 'wins', '-i', 'https://example.com', '-ph', '-addUnauthenticatedBlob'];
    expect(await refusalOf(signProgram(program, signer, [], more), BY_SIGNER)).toBeUndefined();
  });

  // An RSA key takes longer than all other steps of a test.
  let rsa: Keys;
  beforeAll(() => {
    rsa = { root: newRsaKey(), code: newRsaKey() };
  });
  const elliptic = (curve: string): Keys => ({ root: newKey(curve), code: newKey(curve) });

  it.each<[string, () => Keys, string[]]>([
    ['RSA', () => rsa, []],
    ['P-384', () => elliptic('P-384'), []],
    ['P-521', () => elliptic('P-521'), ['-sha512']],
    ['RSA, certified with PSS', () => rsa, ['-sigopt', 'rsa_padding_mode:pss']],
  ])('may be signed with a key for %s, up to its authority', async (_, keysOf, how) => {
    const { root, code } = certifiedByOpenssl(keysOf(), how);
    expect(await refusalOf(signProgram(program, code), [root.cert])).toBeUndefined();
    expect(await refusalOf(signProgram(program, code), [authority.cert])).toContain('"CN=root"');
  });

  it.each([
    ['SHA-1', ['-sha1']],
    ['PSS and SHA-1', ['-sha1', '-sigopt', 'rsa_padding_mode:pss']],
  ])('is refused when its certificate was certified with %s', async (_, how) => {
    const { root, code } = certifiedByOpenssl(rsa, how);
    const found = await refusalOf(signProgram(program, code), [root.cert]);
    expect(found).toContain('issued by "CN=root" with an algorithm weaker than SHA-256');
    expect(await refusalOf(signProgram(program, code), [code.cert])).toBeUndefined();
  });
});

/** Private keys, PEM. */
interface Keys {
  readonly root: string;
  readonly code: string;
}

const PEM = { type: 'pkcs8', format: 'pem' } as const;
const newRsaKey = (): string =>
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(PEM).toString();
const newKey = (namedCurve: string): string =>
  generateKeyPairSync('ec', { namedCurve }).privateKey.export(PEM).toString();

/** @param how - Options for the signatures of both certificates. */
function certifiedByOpenssl(
  keys: Keys,
  how: readonly string[],
): { readonly root: KeyPair; readonly code: KeyPair } {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-openssl-'));
  const inside = (name: string) => path.join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  const request = (name: keyof Keys, ...more: string[]) =>
    openssl('req', '-new', '-key', inside(`${name}.key`), '-subj', `/CN=${name}`, ...how, ...more);
  const made = (name: keyof Keys): KeyPair => ({
    cert: readFileSync(inside(`${name}.pem`), 'utf8'),
    key: keys[name],
  });
  try {
    writeFileSync(inside('extensions'), 'extendedKeyUsage=codeSigning\n');
    writeFileSync(inside('root.key'), keys.root);
    writeFileSync(inside('code.key'), keys.code);
    request('root', '-x509', '-out', inside('root.pem'));
    request('code', '-out', inside('csr'));
    const by = ['-CA', inside('root.pem'), '-CAkey', inside('root.key'), '-CAcreateserial'];
    const extensions = ['-extfile', inside('extensions'), '-out', inside('code.pem')];
    openssl('x509', '-req', '-in', inside('csr'), ...by, ...how, ...extensions);
    return { root: made('root'), code: made('code') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
