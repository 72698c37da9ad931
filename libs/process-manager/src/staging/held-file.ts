/** A file that cannot be changed; whoever asked for it closes it. */
export interface HeldFile {
  /** Allows changes again; idempotent. */
  close(): void;
}
