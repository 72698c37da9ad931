import { quoteText, UsageError } from '@wins/base';

const KIB = 1024;
const MIB = KIB * KIB;
const UNITS: Readonly<Record<string, number>> = { '': 1, k: KIB, m: MIB, g: KIB * MIB };

export const LOG_FILES = {
  size: { default: 10 * MIB, min: 64 * KIB, max: KIB * MIB },
  count: { default: 5, min: 1, max: 100 },
} as const;

/** Parses bytes, or units of 1024 as in `512KiB` or `1g`. @throws UsageError outside of 64 KiB to 1 GiB. */
export function parseLogFileSize(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,10})(?:([kmg])(?:ib?)?)?$/i.exec(text) ?? [];
  const bytes = digits === undefined ? NaN : Number(digits) * (UNITS[unit.toLowerCase()] ?? NaN);
  const { min, max } = LOG_FILES.size;
  if (bytes >= min && bytes <= max) return bytes;
  throw new UsageError(
    `--log-file-size: found ${quoteText(text)}; wanted 64KiB to 1GiB, such as 10MiB`,
  );
}

/** @throws UsageError outside of 1 to 100. */
export function parseLogFileCount(text: string): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : NaN;
  const { min, max } = LOG_FILES.count;
  if (count >= min && count <= max) return count;
  throw new UsageError(
    `--log-files: found ${quoteText(text)}; wanted a number from ${min} to ${max}`,
  );
}
