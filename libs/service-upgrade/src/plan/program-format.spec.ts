import { readFileSync } from 'node:fs';
import { isRunnable, programFormat } from './program-format.js';

function pe(machine: number, at = 0x80): Buffer {
  const header = Buffer.alloc(0x100);
  header.write('MZ');
  header.writeUInt32LE(at, 0x3c);
  if (at + 6 <= header.length) {
    header.write('PE\0\0', at, 'latin1');
    header.writeUInt16LE(machine, at + 4);
  }
  return header;
}

function elf(machine: number, order = 1): Buffer {
  const header = Buffer.alloc(64);
  header.write('\x7fELF', 'latin1');
  header[5] = order;
  if (order === 1) header.writeUInt16LE(machine, 18);
  else header.writeUInt16BE(machine, 18);
  return header;
}

describe('the format of a program', () => {
  it.each([
    ['a Windows program', pe(0x8664), { format: 'pe', arch: 'x64' }],
    ['a Windows program for ARM', pe(0xaa64), { format: 'pe', arch: 'arm64' }],
    ['a 32-bit Windows program', pe(0x14c), { format: 'pe', arch: 'unknown' }],
    ['a DOS program', pe(0, 0xffffffff), { format: 'unknown', arch: 'unknown' }],
    ['a cut Windows program', pe(0x8664).subarray(0, 0x82), { format: 'unknown', arch: 'unknown' }],
    ['a Linux program', elf(62), { format: 'elf', arch: 'x64' }],
    ['a Linux program for ARM', elf(183), { format: 'elf', arch: 'arm64' }],
    ['a big-endian program', elf(62, 2), { format: 'elf', arch: 'unknown' }],
    ['a script', Buffer.from('#!/bin/sh\n'), { format: 'script', arch: 'any' }],
    ['nothing', Buffer.alloc(0), { format: 'unknown', arch: 'unknown' }],
    ['text', Buffer.from('hello'), { format: 'unknown', arch: 'unknown' }],
    ['four bytes', Buffer.from('\x7fELF', 'latin1'), { format: 'unknown', arch: 'unknown' }],
  ])('is told of %s', (_what, header, format) => {
    expect(programFormat(header)).toEqual(format);
  });

  it('is told of the program that runs this', () => {
    const format = programFormat(readFileSync(process.execPath).subarray(0, 4096));
    expect(isRunnable(format, process.platform, process.arch)).toBe(true);
  });

  it.each([
    [pe(0x8664), 'win32', 'x64', true],
    [pe(0xaa64), 'win32', 'x64', false],
    [elf(62), 'win32', 'x64', false],
    [Buffer.from('#!/bin/sh'), 'win32', 'x64', false],
    [pe(0x8664), 'linux', 'x64', false],
    [elf(183), 'linux', 'x64', false],
    [elf(62), 'linux', 'x64', true],
    [Buffer.from('#!/bin/sh'), 'linux', 'arm64', true],
    [Buffer.alloc(9), 'linux', 'x64', false],
  ] as const)('decides where it runs (%#)', (header, platform, arch, runs) => {
    expect(isRunnable(programFormat(header), platform, arch)).toBe(runs);
  });
});
