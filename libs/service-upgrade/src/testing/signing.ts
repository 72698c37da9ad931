import type { SignerRule } from '@wins/base';
import type { KeyPair } from '@wins/base/testing';
import * as asn1 from 'asn1js';
import { execFileSync } from 'node:child_process';
import { hash, X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as pkijs from 'pkijs';
import { SignedProgram } from '../signature/signed-program.js';

/** Program that signs; it shares no code with our verification. */
export const SIGNER_PROGRAM = '/usr/bin/osslsigncode';

const mustRun = process.env['CI'] !== undefined || process.env['WINS_REQUIRE_WINDOWS'] === '1';

/** `describe`, or its `skip` on a machine without the program that signs. */
export const describeSigned: jest.Describe =
  existsSync(SIGNER_PROGRAM) || mustRun ? describe : describe.skip;

/** SHA-256, as a config lists it. */
export function thumbprintOf({ cert }: Pick<KeyPair, 'cert'>): string {
  return new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase();
}

/** Judges a program by a rule, or by a rule that only lists signers. */
export async function refusalOf(
  bytes: Buffer,
  rule: SignerRule | readonly string[],
  now?: Date,
): Promise<string | undefined> {
  const signed = new SignedProgram();
  for (let at = 0; at < bytes.length; at += 2048)
    await signed.take(bytes.subarray(at, at + 2048), at);
  if ('signedBy' in rule) return signed.refuse(rule, now);
  return signed.refuse({ signedBy: rule.map((certificate) => ({ certificate })) }, now);
}

/** A timestamp authority, the authorities above it that its token contains, and its time. */
export interface TestStamp {
  readonly by: KeyPair;
  readonly authorities?: readonly KeyPair[];
  readonly at: Date;
}

/**
 * @param authorities - Authorities whose certificates are added to the signature.
 * @param more - Options of osslsigncode.
 * @param stamp - Timestamp of the form that `signtool /tr` writes. Default: none.
 */
export function signProgram(
  program: Buffer,
  signer: KeyPair,
  authorities: readonly KeyPair[] = [],
  more: readonly string[] = [],
  stamp?: TestStamp,
): Buffer {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-signing-'));
  const write = (name: string, content: Buffer | string): string => {
    writeFileSync(path.join(folder, name), content);
    return path.join(folder, name);
  };
  try {
    const chainOf = (name: string, pairs: readonly KeyPair[]): string =>
      write(name, pairs.map(({ cert }) => cert).join(''));
    const chain = chainOf('chain.pem', [signer, ...authorities]);
    const time = stamp && [
      '-TSA-certs',
      chainOf('stamp.pem', [stamp.by, ...(stamp.authorities ?? [])]),
      '-TSA-key',
      write('stamp-key.pem', stamp.by.key),
      '-TSA-time',
      String(Math.floor(stamp.at.getTime() / 1000)),
    ];
    const by = ['-certs', chain, '-key', write('key.pem', signer.key)];
    const out = path.join(folder, 'signed.exe');
    const files = ['-in', write('program.exe', program), '-out', out];
    execFileSync(SIGNER_PROGRAM, [
      'sign',
      '-h',
      'sha256',
      ...more,
      ...(time ?? []),
      ...by,
      ...files,
    ]);
    return readFileSync(out);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Settings of a token that no careful authority makes. */
export interface TestToken extends TestStamp {
  /** Digest of the signature in the token. Default SHA-256. */
  readonly imprint?: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  /** Digest of the token's own signature. Default SHA-256. */
  readonly digest?: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  /** Type of the content. Default: a timestamp's. */
  readonly contentType?: string;
  /** Options of `openssl cms`. */
  readonly more?: readonly string[];
}

const IMPRINTS = {
  sha1: '1.3.14.3.2.26',
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
};
const TST_INFO = '1.2.840.113549.1.9.16.1.4';

/** Makes a token about the first signature of a program with the program `openssl`, which accepts every certificate. */
export function tokenFor(signed: Buffer, token: TestToken): Buffer {
  const { by, authorities = [], at, imprint = 'sha256', digest = 'sha256' } = token;
  const [signer] = messageOf(signed).signerInfos;
  if (signer === undefined) throw new Error('the program has no signer');
  const stamped = Buffer.from(signer.signature.getValue());
  const info = new pkijs.TSTInfo({
    version: 1,
    policy: '1.2.3.4.1',
    messageImprint: new pkijs.MessageImprint({
      hashAlgorithm: new pkijs.AlgorithmIdentifier({ algorithmId: IMPRINTS[imprint] }),
      hashedMessage: new asn1.OctetString({ valueHex: hash(imprint, stamped, 'buffer') }),
    }),
    serialNumber: new asn1.Integer({ value: 7 }),
    genTime: at,
  });
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-token-'));
  const write = (name: string, content: Buffer | string): string => {
    writeFileSync(path.join(folder, name), content);
    return path.join(folder, name);
  };
  try {
    const out = path.join(folder, 'token.der');
    execFileSync('openssl', [
      'cms',
      '-sign',
      '-binary',
      '-nodetach',
      '-outform',
      'DER',
      '-out',
      out,
      '-econtent_type',
      token.contentType ?? TST_INFO,
      '-md',
      digest,
      ...(token.more ?? []),
      '-in',
      write('info.der', Buffer.from(info.toSchema().toBER())),
      '-signer',
      write('by.pem', by.cert),
      '-inkey',
      write('by-key.pem', by.key),
      ...(authorities.length === 0
        ? []
        : ['-certfile', write('above.pem', authorities.map(({ cert }) => cert).join(''))]),
    ]);
    return readFileSync(out);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Adds attributes (type and value) to the first signature of a program, which nobody needs a key for. */
export function addUnsigned(
  signed: Buffer,
  attributes: readonly (readonly [type: string, value: Buffer])[],
): Buffer {
  const message = messageOf(signed);
  const [signer] = message.signerInfos;
  if (signer === undefined) throw new Error('the program has no signer');
  const added = attributes.map(
    ([type, value]) => new pkijs.Attribute({ type, values: [asn1.fromBER(value).result] }),
  );
  signer.unsignedAttrs = new pkijs.SignedAndUnsignedAttributes({
    type: 1,
    attributes: [...(signer.unsignedAttrs?.attributes ?? []), ...added],
  });
  const info = new pkijs.ContentInfo({
    contentType: pkijs.ContentInfo.SIGNED_DATA,
    content: message.toSchema(true),
  });
  return withMessage(signed, Buffer.from(info.toSchema().toBER()));
}

/** Offset of the certificate table's entry in the headers of {@link smallProgram}. */
export const DIRECTORY_AT = 0x80 + 24 + 112 + 32;

/** Replaces the message of a signed program, and corrects the lengths around it. */
export function withMessage(signed: Buffer, message: Buffer): Buffer {
  const bytes = Buffer.from(signed);
  const table = bytes.readUInt32LE(DIRECTORY_AT);
  const entry = Buffer.alloc(Math.ceil((8 + message.length) / 8) * 8);
  bytes.copy(entry, 0, table, table + 8);
  entry.writeUInt32LE(entry.length, 0);
  message.copy(entry, 8);
  bytes.writeUInt32LE(entry.length, DIRECTORY_AT + 4);
  return Buffer.concat([bytes.subarray(0, table), entry]);
}

function messageOf(signed: Buffer): pkijs.SignedData {
  const { result } = asn1.fromBER(signed.subarray(signed.readUInt32LE(DIRECTORY_AT) + 8));
  const info = new pkijs.ContentInfo({ schema: result });
  return new pkijs.SignedData({ schema: info.content as unknown });
}

/** Returns a PE file for x64: one section, and appended data. */
export function smallProgram(): Buffer {
  const bytes = Buffer.alloc(0x600);
  bytes.write('MZ');
  bytes.writeUInt32LE(0x80, 0x3c);
  bytes.write('PE\0\0', 0x80);
  const file = 0x84;
  bytes.writeUInt16LE(0x8664, file);
  bytes.writeUInt16LE(1, file + 2);
  bytes.writeUInt16LE(240, file + 16);
  bytes.writeUInt16LE(0x22, file + 18);
  const optional = file + 20;
  bytes.writeUInt16LE(0x20b, optional);
  bytes.writeUInt32LE(0x200, optional + 4);
  bytes.writeUInt32LE(0x1000, optional + 32);
  bytes.writeUInt32LE(0x200, optional + 36);
  bytes.writeUInt16LE(6, optional + 40);
  bytes.writeUInt16LE(6, optional + 48);
  bytes.writeUInt32LE(0x2000, optional + 56);
  bytes.writeUInt32LE(0x200, optional + 60);
  bytes.writeUInt16LE(3, optional + 68);
  bytes.writeUInt32LE(16, optional + 108);
  const section = optional + 240;
  bytes.write('.text', section);
  bytes.writeUInt32LE(0x200, section + 8);
  bytes.writeUInt32LE(0x1000, section + 12);
  bytes.writeUInt32LE(0x200, section + 16);
  bytes.writeUInt32LE(0x200, section + 20);
  bytes.fill('overlay ', 0x400);
  return bytes;
}
