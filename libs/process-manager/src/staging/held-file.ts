/** A file that cannot be changed; the caller closes it. */
export interface HeldFile {
  /** Allows changes again; idempotent. */
  close(): void;
}
