/** Keeps a file from being changed until it is closed, by the caller. */
export interface FileHold {
  /** Allows changes again; idempotent. */
  close(): void;
}
