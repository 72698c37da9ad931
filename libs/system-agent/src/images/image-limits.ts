const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

/** How much an image may cost. What goes beyond fails with `imageFailed`. */
export interface ImageLimits {
  /** Size of a manifest, an index or a config. Default: 1 MiB. */
  readonly documentBytes: number;
  /** Size of one layer as it is stored. Default: 4 GiB. */
  readonly layerBytes: number;
  /** Default: 256. */
  readonly layers: number;
  /** Size of all layers unpacked, including the content that is not kept. Default: 16 GiB. */
  readonly unpackedBytes: number;
  /** Files, folders and links of all layers, with the folders that are made because something is in them. Default: 500,000. */
  readonly entries: number;
  /** Length of the paths of all these together, in UTF-16 units: those of a layer are in memory while it is unpacked. Default: 64 Mi. */
  readonly pathUnits: number;
  /** Between two bytes of a registry, and for its answer to begin. Default: 30 s. */
  readonly idleMs: number;
  /** For an image as a whole. Default: two hours. */
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
