const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'];

/** Writes a number of bytes for people, in powers of 1,024: `1.5 KiB`. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 'B'];
  for (const larger of UNITS) {
    if (value < 1024) break;
    [value, unit] = [value / 1024, larger];
  }
  return unit === 'B' ? `${value} B` : `${value.toFixed(1)} ${unit}`;
}
