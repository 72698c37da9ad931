/** What a download must be. */
export interface DownloadWanted {
  /** In hex. Without it the connection has to be TLS, and the answer to tell its length. */
  readonly sha256?: string;
  readonly maxBytes: number;
  /** What the file begins with, such as `MZ`. */
  readonly magic?: Uint8Array;
  readonly signal?: AbortSignal;
}

/** What was downloaded. */
export interface Downloaded {
  /** In lower-case hex. */
  readonly sha256: string;
  readonly sizeBytes: number;
  /** `tls`: no digest was wanted, and the server's certificate alone speaks for what it sent. */
  readonly verifiedBy: 'digest' | 'tls';
}

/**
 * Fetches a file into a sink, part by part. The first part comes once status, length and first bytes are right; what a sink was given is
 * good only once the promise resolves. A sink that throws ends the download with its error.
 *
 * @throws RancherError
 */
export type Download = (
  url: string,
  wanted: DownloadWanted,
  sink: (part: Uint8Array) => Promise<void> | void,
) => Promise<Downloaded>;
