export interface ProgramFormat {
  readonly format: 'pe' | 'elf' | 'script' | 'unknown';
  /** Values as in `process.arch`, and `any` for a script, which runs on any processor. */
  readonly arch: 'x64' | 'arm64' | 'any' | 'unknown';
}

export const HEADER_BYTES = 4096;

const UNKNOWN: ProgramFormat = { format: 'unknown', arch: 'unknown' };
type Machines = Readonly<Record<number, 'x64' | 'arm64'>>;
const PE_MACHINES: Machines = { 0x8664: 'x64', 0xaa64: 'arm64' };
const ELF_MACHINES: Machines = { 62: 'x64', 183: 'arm64' };

export function programFormat(header: Buffer): ProgramFormat {
  if (header.subarray(0, 2).equals(Buffer.from('#!'))) return { format: 'script', arch: 'any' };
  if (header.subarray(0, 4).equals(Buffer.from('\x7fELF')) && header.length >= 20) {
    const little = header[5] === 1;
    const machine = little ? header.readUInt16LE(18) : header.readUInt16BE(18);
    return { format: 'elf', arch: (little && ELF_MACHINES[machine]) || 'unknown' };
  }
  if (header.subarray(0, 2).equals(Buffer.from('MZ')) && header.length >= 0x40) {
    const at = header.readUInt32LE(0x3c);
    if (at + 6 > header.length || header.toString('latin1', at, at + 4) !== 'PE\0\0')
      return UNKNOWN;
    return { format: 'pe', arch: PE_MACHINES[header.readUInt16LE(at + 4)] ?? 'unknown' };
  }
  return UNKNOWN;
}

export function isRunnable(
  { format, arch }: ProgramFormat,
  platform: NodeJS.Platform,
  systemArch: string,
): boolean {
  if (platform === 'win32') return format === 'pe' && arch === systemArch;
  return format === 'script' || (format === 'elf' && arch === systemArch);
}
