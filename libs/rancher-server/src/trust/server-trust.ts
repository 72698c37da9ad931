import type { Certificate } from '@wins/net';

/**
 * Why a server is taken for the right one.
 *
 * - `checksum`: the body of `/cacerts` has the checksum that was given.
 * - `proof`: the server proved for this body that it knows the token.
 * - `system`: its certificate is from an authority of the system.
 * - `plain`: it is asked by `http://`, which was allowed, and nothing is known.
 */
export type Authority = 'checksum' | 'proof' | 'system' | 'plain';

/** A server that may be shown a token, and how it is known. */
export interface ServerTrust {
  /** Without a slash at the end of its path. */
  readonly server: URL;
  readonly authority: Authority;
  /** PEM of what its certificate may be from. */
  readonly roots: readonly string[];
  /** What `/cacerts` has, each once, in its order; empty where Rancher has a certificate of a public authority. */
  readonly certificates: readonly Certificate[];
  /** The certificates as the text of a file: nothing else that the body held, no private key above all. */
  readonly caPem: string;
  /** SHA-256 of the body of `/cacerts` as it was sent, in lower-case hex. */
  readonly checksum: string;
}

/** What is known of a server before it was asked. */
export interface TrustWanted {
  /** `https://rancher.example`, with a path if Rancher is below one. */
  readonly server: string;
  /** `CATTLE_CA_CHECKSUM`: SHA-256 of the body of `/cacerts` in hex, in capital or small letters. Empty for none. */
  readonly caChecksum?: string;
  /** For the proof; the token itself does not leave the node before the server is known. */
  readonly token?: string;
  /** Only what `/cacerts` has is trusted, and it must have something. Default: false. */
  readonly strictTls?: boolean;
  /** For how long a server that cannot be reached is asked again. Default: 1 min. */
  readonly timeoutMs?: number;
}
