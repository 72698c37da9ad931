/** What every process of a run carries: which run, and which daemon started it. */
export interface RunMarker {
  readonly mark: string;
  /** The line of daemons that one state directory belongs to: 16 hexadecimal digits. */
  readonly lineage: string;
  /** `PID:start token` of the daemon. */
  readonly daemon: string;
}

const MARKER = /^([0-9a-f]{32}):([0-9a-f]{16}):([1-9][0-9]{0,9}:[0-9a-z.-]{1,128})$/;

/** Writes the mark as the value of an environment variable. */
export function formatRunMarker(marker: RunMarker): string {
  return `${marker.mark}:${marker.lineage}:${marker.daemon}`;
}

/** Reads a mark; undefined for anything that we did not write. */
export function parseRunMarker(text: string): RunMarker | undefined {
  const [, mark, lineage, daemon] = MARKER.exec(text) ?? [];
  return mark === undefined || lineage === undefined || daemon === undefined
    ? undefined
    : { mark, lineage, daemon };
}

/** Splits `PID:start token`; the PID is 0 when the text is not of that form. */
export function parseDaemon(daemon: string): { readonly pid: number; readonly startToken: string } {
  const colon = daemon.indexOf(':');
  return { pid: Number(daemon.slice(0, Math.max(0, colon))), startToken: daemon.slice(colon + 1) };
}
