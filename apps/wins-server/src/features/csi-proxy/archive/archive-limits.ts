/** What an archive may cost; beyond it the archive is refused. */
export interface ArchiveLimits {
  /** Of the archive as it is fetched. Default 256 MiB. */
  readonly archiveBytes: number;
  /** Of all that is in it. Default 512 MiB. */
  readonly unpackedBytes: number;
  /** Files and folders in it. Default 1,024. */
  readonly entries: number;
}

const MIB = 1024 * 1024;

/** The limits of a program: an archive of csi-proxy has some 10 MiB. */
export const DEFAULT_ARCHIVE_LIMITS: ArchiveLimits = {
  archiveBytes: 256 * MIB,
  unpackedBytes: 512 * MIB,
  entries: 1024,
};
