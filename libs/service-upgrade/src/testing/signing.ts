import type { KeyPair } from '@wins/base/testing';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Program that signs; it shares no code with our verification. */
export const SIGNER_PROGRAM = '/usr/bin/osslsigncode';

/**
 * @param authorities - Authorities whose certificates are added to the signature.
 * @param more - Options of osslsigncode.
 */
export function signProgram(
  program: Buffer,
  signer: KeyPair,
  authorities: readonly KeyPair[] = [],
  more: readonly string[] = [],
): Buffer {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-signing-'));
  const write = (name: string, content: Buffer | string): string => {
    writeFileSync(path.join(folder, name), content);
    return path.join(folder, name);
  };
  try {
    const chain = write('chain.pem', [signer, ...authorities].map(({ cert }) => cert).join(''));
    const by = ['-certs', chain, '-key', write('key.pem', signer.key)];
    const out = path.join(folder, 'signed.exe');
    const files = ['-in', write('program.exe', program), '-out', out];
    execFileSync(SIGNER_PROGRAM, ['sign', '-h', 'sha256', ...more, ...by, ...files]);
    return readFileSync(out);
  } finally {
    rmSync(folder, { recursive: true });
  }
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
