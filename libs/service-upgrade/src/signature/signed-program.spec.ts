import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CODE_SIGNING, createCertificateAuthority } from '@wins/base/testing';
import {
  describeSigned,
  DIRECTORY_AT,
  refusalOf,
  signProgram,
  smallProgram,
  thumbprintOf,
  withMessage,
} from '../testing/signing.js';
import { Effects } from '../effects.js';
import { copyProgram } from '../run/read-program.js';
import { SignedProgram } from './signed-program.js';

const authority = createCertificateAuthority('authority');
const issuer = createCertificateAuthority('issuer', authority);
const signer = issuer.issue('signer', [], { purposes: [CODE_SIGNING] });
const stranger = issuer.issue('stranger', [], { purposes: [CODE_SIGNING] });
const BY_SIGNER = [thumbprintOf(signer)];
const program = smallProgram();
const DIRECTORY = DIRECTORY_AT;
const CHECKSUM = program.readUInt32LE(0x3c) + 24 + 64;
let made: Buffer | undefined;

function signed(): Buffer {
  made ??= signProgram(program, signer, [issuer, authority]);
  return Buffer.from(made);
}

function changed(change: (bytes: Buffer, table: number) => unknown): Buffer {
  const bytes = signed();
  change(bytes, bytes.readUInt32LE(DIRECTORY));
  return bytes;
}

function messageChanged(messageOf: (message: Buffer) => Buffer): Buffer {
  const bytes = signed();
  return withMessage(bytes, messageOf(bytes.subarray(bytes.readUInt32LE(DIRECTORY) + 8)));
}

describeSigned('a signed program', () => {
  it.each([
    ['signer', signer],
    ['issuer', issuer],
    ['authority', authority],
  ])('is taken when the certificate of its %s is listed', async (_, listed) => {
    expect(await refusalOf(signed(), ['00'.repeat(32), thumbprintOf(listed)])).toBeUndefined();
  });

  it('is taken with page hashes, and with another checksum, which no signature covers', async () => {
    const paged = signProgram(program, signer, [], ['-ph']);
    expect(await refusalOf(paged, BY_SIGNER)).toBeUndefined();
    const checksum = changed((bytes) => bytes.writeUInt32LE(0x12345678, CHECKSUM));
    expect(await refusalOf(checksum, BY_SIGNER)).toBeUndefined();
  });

  it('is taken when its copy was begun again, because another program held the file', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'wins-signed-'));
    const [offered, copy] = [path.join(folder, 'offered'), path.join(folder, 'copy')];
    writeFileSync(offered, signed());
    let tries = 0;
    const effects = new Effects(async (_effect, action) => {
      const done = await action();
      tries += 1;
      if (tries === 1) throw Object.assign(new Error('held'), { code: 'EBUSY' });
      return done;
    });
    try {
      const read = new SignedProgram();
      await copyProgram(effects, 'offered program', offered, copy, read);
      const rule = { signedBy: BY_SIGNER.map((certificate) => ({ certificate })) };
      expect([tries, await read.refuse(rule)]).toEqual([2, undefined]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is refused when another has signed it, with the same authority too; the message names both', async () => {
    const found = await refusalOf(signProgram(program, stranger, [issuer, signer]), BY_SIGNER);
    expect(found).toMatch(/^found "CN=stranger" \([0-9a-f]{64}\), issued by "CN=issuer"/);
    expect(found).toContain(`; wanted a signature by ${String(BY_SIGNER[0])} (upgrade.signedBy)`);
  });

  it('is refused when the way to the listed authority is not in the signature', async () => {
    const alone = signProgram(program, signer);
    expect(await refusalOf(alone, [thumbprintOf(authority)])).toMatch(/^found "CN=signer"/);
    expect(await refusalOf(alone, BY_SIGNER)).toBeUndefined();
  });

  it('is refused when an authority of the same name has another key', async () => {
    const other = createCertificateAuthority('issuer', createCertificateAuthority('authority'));
    const impostor = other.issue('signer', [], { purposes: [CODE_SIGNING] });
    const bytes = signProgram(program, impostor, [issuer, authority, signer]);
    for (const listed of [signer, issuer, authority])
      expect(await refusalOf(bytes, [thumbprintOf(listed)])).toMatch(/^found "CN=signer"/);
  });

  it('is refused when what issued its certificate is no authority', async () => {
    const parent = { ...issuer, ...signer, commonName: 'signer' };
    const above = createCertificateAuthority('above', parent);
    const code = above.issue('code', [], { purposes: [CODE_SIGNING] });
    const bytes = signProgram(program, code, [above, signer, issuer]);
    expect(await refusalOf(bytes, BY_SIGNER)).toMatch(/^found "CN=code" .*, issued by "CN=above"/);
    expect(await refusalOf(bytes, [thumbprintOf(above)])).toBeUndefined();
  });

  it('is refused when its certificate is not for signing code', async () => {
    const web = issuer.issue('web', ['localhost']);
    const found = await refusalOf(signProgram(program, web), [thumbprintOf(web)]);
    expect(found).toContain('which is not for signing code');
  });

  it('is refused when a certificate on the way is not valid now', async () => {
    const later = new Date(Date.now() + 400 * 86_400_000);
    expect(await refusalOf(signed(), BY_SIGNER, later)).toContain('which is valid from');
    expect(await refusalOf(signed(), BY_SIGNER, new Date(0))).toContain('which is valid from');
    const lasting = issuer.issue('lasting', [], { purposes: [CODE_SIGNING], notAfter: later });
    const bytes = signProgram(program, lasting, [issuer]);
    const tomorrow = new Date(Date.now() + 2 * 86_400_000);
    expect(await refusalOf(bytes, [thumbprintOf(lasting)], tomorrow)).toBeUndefined();
    expect(await refusalOf(bytes, [thumbprintOf(issuer)], tomorrow)).toMatch(/^found "CN=lasting"/);
  });

  it.each([
    ['is not signed', () => program, 'it has no signature'],
    ['is no PE file', () => Buffer.from('#!/bin/sh\n'), 'only Windows programs are signed'],
    ['is empty', () => Buffer.of(), 'it is not a PE file'],
    [
      'has data behind its signature',
      () => Buffer.concat([signed(), Buffer.alloc(8)]),
      'wanted one that ends with the file',
    ],
    ['is cut', () => signed().subarray(0, -8), 'wanted one that ends with the file'],
    [
      'has data between its message and the end of the table',
      () => messageChanged((message) => Buffer.concat([message, Buffer.alloc(64, 1)])),
      'bytes follow its message',
    ],
    [
      'has two entries in its table',
      () => {
        const bytes = signed();
        const table = bytes.subarray(bytes.readUInt32LE(DIRECTORY));
        bytes.writeUInt32LE(2 * table.length, DIRECTORY + 4);
        return Buffer.concat([bytes, table]);
      },
      'does not have exactly one entry',
    ],
    [
      'has another kind of certificate',
      () => changed((bytes, table) => bytes.writeUInt16LE(1, table + 6)),
      'found a certificate of revision 512 and type 1',
    ],
    [
      'has a table beyond its end',
      () => changed((bytes) => bytes.writeUInt32LE(0xfffffff8, DIRECTORY)),
      'wanted one that ends with the file',
    ],
    [
      'has a table in its headers',
      () => changed((bytes) => bytes.writeUInt32LE(0x40, DIRECTORY)),
      'wanted one behind the headers',
    ],
    [
      'has a table of 4 GB',
      () => changed((bytes) => bytes.writeUInt32LE(0xfffffff8, DIRECTORY + 4)),
      'wanted at most 4194304',
    ],
    [
      'has no place for a table',
      () => changed((bytes) => bytes.writeUInt32LE(4, DIRECTORY - 36)),
      'have no entry for a signature',
    ],
    [
      'has headers that lie elsewhere',
      () => changed((bytes) => bytes.writeUInt32LE(0xffffffff, 0x3c)),
      'it is not a PE file',
    ],
    ['has an empty message', () => messageChanged(() => Buffer.alloc(8)), 'not valid'],
    [
      'has a message that is nested without an end',
      () => messageChanged(() => Buffer.alloc(3_000_000, '3080', 'hex')),
      'nesting depth',
    ],
    [
      'has a message of many small parts',
      () => messageChanged(() => Buffer.alloc(3_000_000, '0500', 'hex')),
      'not valid',
    ],
    [
      'has a message that claims to be longer than its file',
      () =>
        messageChanged((message) => Buffer.concat([Buffer.from('3084ffffffff', 'hex'), message])),
      'not valid',
    ],
  ])('is refused when it %s', async (_, make, found) => {
    const reason = await refusalOf(make(), BY_SIGNER);
    expect(reason).toMatch(/; wanted a signature by [0-9a-f]{64}/);
    expect(reason).toContain(found);
  });

  it('is refused whichever of its bytes was changed, even behind its sections', async () => {
    // Each authority in the signature would double the time, and the digest is the same.
    const alone = signProgram(program, signer);
    const end = alone.readUInt32LE(DIRECTORY);
    const taken: number[] = [];
    for (let at = 0; at < end; at += 7) {
      const bytes = Buffer.from(alone);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 0x41, at);
      if ((await refusalOf(bytes, BY_SIGNER)) === undefined) taken.push(at);
    }
    expect(end).toBe(program.length);
    expect(taken.filter((at) => at < CHECKSUM || at >= CHECKSUM + 4)).toEqual([]);
  });
});
