/** What each answer may take, in time and size. */
export const DIAGNOSTIC_LIMITS = {
  /** The longest recording of the processor or of the trace, in seconds. */
  longestSeconds: 60,
  /**
   * The largest heap of which a snapshot is taken, in bytes that are in use. The event loop stops while it is taken: for about 10 s for
   * each 100 MB of small objects, as measured on one slow core, and for far less where the objects are large.
   */
  largestHeapBytes: 64 * 1024 * 1024,
  /** So many times what is in use is the most that taking a snapshot was seen to need beside it. */
  heapCost: 16,
  /** Processor profiles, and the events of a trace, as text. A trace ends when it has so many. */
  largestRecordingBytes: 32 * 1024 * 1024,
  /** Text about stacks, and the report. */
  largestTextBytes: 1024 * 1024,
} as const;

/** For a reader of a file, bytes at a time. */
export const PIECE_BYTES = 64 * 1024;
