import type { Outputs, PeriodicStatus } from '../apply/pass.js';

/**
 * So many bytes of outputs are written into one value, as base64: half of what is read back, since names and times are in it too. Outputs
 * of zeros are small when they are packed, and would be too large to unpack.
 */
const MAX_TEXT_BYTES = 8 * 1024 * 1024;
/** Cutting off less than the marker needs would gain nothing. */
const MARKER_BYTES = 80;

type Statuses = Readonly<Record<string, PeriodicStatus>>;

/** Each output with its beginning alone, of so many bytes, and a marker that says how much is missing. */
export function cutOutputs(outputs: Outputs, keepBytes: number): Outputs {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, output]) => [name, cutOne(output, keepBytes)]),
  );
}

/** Likewise, for what periodic instructions wrote. */
export function cutPeriodic(statuses: Statuses, keepBytes: number): Statuses {
  return Object.fromEntries(
    Object.entries(statuses).map(([name, status]) => {
      const { stdout, stderr } = status;
      const cut = {
        stdout: cutOne(stdout, keepBytes),
        stderr: stderr && cutOne(stderr, keepBytes),
      };
      return [name, { ...status, ...cut }];
    }),
  );
}

/** Outputs that can be read back when they are written: cut where they are too many. */
export function readableOutputs(outputs: Outputs): Outputs {
  return readable(outputs, cutOutputs, (some) => Object.values(some));
}

/** Likewise, for what periodic instructions wrote. */
export function readablePeriodic(statuses: Statuses): Statuses {
  return readable(statuses, cutPeriodic, (some) =>
    Object.values(some).flatMap(({ stdout, stderr }) => [stdout, stderr]),
  );
}

function readable<T>(
  whole: T,
  cutTo: (whole: T, keepBytes: number) => T,
  outputsOf: (some: T) => readonly (Buffer | null | undefined)[],
): T {
  const isTooLong = (some: T): boolean =>
    outputsOf(some).reduce((sum, output) => sum + base64Bytes(output), 0) > MAX_TEXT_BYTES;
  let cut = whole;
  for (let keepBytes = 256 * 1024; isTooLong(cut) && keepBytes >= 1; keepBytes /= 2)
    cut = cutTo(whole, keepBytes);
  return cut;
}

function base64Bytes(output: Buffer | null | undefined): number {
  return 4 * Math.ceil((output?.length ?? 0) / 3);
}

function cutOne(output: Buffer | null, keepBytes: number): Buffer | null {
  if (!output || output.length <= keepBytes + MARKER_BYTES) return output;
  const missing = output.length - keepBytes;
  return Buffer.concat([
    output.subarray(0, keepBytes),
    Buffer.from(`\n[${missing} bytes are missing here; the node has the whole output]\n`),
  ]);
}
