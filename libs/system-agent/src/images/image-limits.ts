const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

/** Limits on the cost of an image. Exceeding one fails with `imageFailed`. */
export interface ImageLimits {
  /** Size of a manifest, an index or a config. Default: 1 MiB. */
  readonly documentBytes: number;
  /** Size of one layer as it is stored. Default: 4 GiB. */
  readonly layerBytes: number;
  /** Default: 256. */
  readonly layers: number;
  /** Unpacked size of all layers, including discarded content. Default: 16 GiB. */
  readonly unpackedBytes: number;
  /** Number of files, folders and links in all layers, including implied parent folders. Default: 500,000. */
  readonly entries: number;
  /**
   * Total length of their paths, in UTF-16 units, because the paths of a layer are in memory while it is unpacked.
   * Default: 64 Mi.
   */
  readonly pathUnits: number;
  /** Time-out between two bytes of a registry, and for the start of its answer. Default: 30 s. */
  readonly idleMs: number;
  /** Time-out for a whole image. Default: two hours. */
  readonly totalMs: number;
}

export const DEFAULT_IMAGE_LIMITS: ImageLimits = {
  documentBytes: MIB,
  layerBytes: 4 * GIB,
  layers: 256,
  unpackedBytes: 16 * GIB,
  entries: 500_000,
  pathUnits: 64 * MIB,
  idleMs: 30_000,
  totalMs: 2 * 60 * 60 * 1000,
};
