/** The bounds of the protocol; each stands beside the field that it bounds, in bytes unless the name says otherwise. */
export const PROTOCOL_LIMITS = {
  /** One whole message. A longer one ends the session. */
  messageBytes: 1024 * 1024,
  /** One variable-length integer: 64 bits in groups of seven. A longer one ends the session. */
  varintBytes: 10,
  /** The `proto/address` text of a Connect that is accepted. A longer one is refused, that stream only. */
  connectBytes: 266,
  /** The `proto/address` text that every peer version reads; what is sent never exceeds it. */
  sentConnectBytes: 100,
  /** The text of an Error. A longer one is cut, in both directions. */
  errorBytes: 100,
  /** The client key of AddClient and RemoveClient. A longer one is cut. */
  clientKeyBytes: 100,
  /** The list of a SyncConnections: 16,384 ids of 8 bytes. A longer one ends the session. */
  syncBytes: 16_384 * 8,
  /** The body of a Datagram: what UDP over IPv4 carries. A longer one ends the session. */
  datagramBytes: 65_507,
  /** The body of a Data message that is sent: what one read of a socket gives, so that it is one message. */
  sentDataBytes: 64 * 1024,
  /** The same towards a peer that said hello: two reads, where the second came before the first had its turn. */
  sentToOwnBytes: 128 * 1024,
} as const;
