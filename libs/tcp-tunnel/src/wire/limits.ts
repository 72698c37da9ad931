/** Limits of the protocol, in bytes. */
export const PROTOCOL_LIMITS = {
  /** Message. A longer one ends the session. */
  messageBytes: 1024 * 1024,
  /** Variable-length integer: 64 bits in groups of seven. A longer one ends the session. */
  varintBytes: 10,
  /** Accepted `proto/address` text of a Connect. A longer one ends only its stream. */
  connectBytes: 266,
  /** `proto/address` text of a Connect that this side sends. All versions of peers accept this length. */
  sentConnectBytes: 100,
  /** Text of an Error. A longer text is cut, whether it is sent or received. */
  errorBytes: 100,
  /** List of a SyncConnections: 16,384 ids of 8 bytes. A longer one ends the session. */
  syncBytes: 16_384 * 8,
  /** Body of a Datagram: the maximum of UDP over IPv4. A longer one ends the session. */
  datagramBytes: 65_507,
  /** Body of a sent Data message: one read of a socket. */
  sentDataBytes: 64 * 1024,
  /**
   * Body of a Data message sent to a peer with our extensions: two reads of a socket. If the data of one read must wait,
   * the message can also contain the data of the next read.
   */
  sentToOwnBytes: 128 * 1024,
} as const;
