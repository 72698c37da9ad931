import type { Socket } from 'node:net';

/** Description of a client in records: the system's words, never the client's own. */
export interface ClientDescription {
  /** The process that connected; absent when it cannot be seen from here. */
  readonly pid?: number;
  /** Its user, on Linux. */
  readonly uid?: number;
  /** The SID of its account, on Windows. */
  readonly account?: string;
  /** Its session, on Windows: those of the host's services are in 0, a container has sessions of its own. */
  readonly session?: number;
  /** The container that it is in; `unknown` when it has gone before it could be looked at. Absent on the host itself. */
  readonly container?: string;
}

/** The peer of a connection, as the system identifies it. */
export interface ClientIdentity {
  /** The key of quotas: the container if there is one, else the account. A process is too cheap to be a key. */
  readonly key: string;
  /** Whether it has the rights of the daemon, outside of any container. Of each resource a part is kept for these. */
  readonly isAdministrator: boolean;
  /** Whether clients cannot be told apart here, so that this is all of them. */
  readonly isEverybody: boolean;
  readonly description: ClientDescription;
  /** Names that `for` of a whitelist entry may use for it; empty when the client cannot be inspected. */
  readonly names: readonly string[];
}

/** Looks at a connection when it is accepted, before anything is read from it. Never throws. */
export type IdentifyClient = (connection: Socket) => ClientIdentity;

/**
 * Key of all clients that the system cannot identify: they have ended, or may not be looked at. A client can make itself one, so
 * all of them together have less than another.
 */
export const UNIDENTIFIED = 'unidentified';

/** A client of which nothing is known: it has gone before it could be looked at. */
export const UNIDENTIFIED_CLIENT: ClientIdentity = {
  key: UNIDENTIFIED,
  isAdministrator: false,
  isEverybody: false,
  description: { container: 'unknown' },
  names: [],
};

/** Everyone, where the system does not say who connects. */
export const EVERYBODY: ClientIdentity = {
  key: 'unknown',
  isAdministrator: false,
  isEverybody: true,
  description: {},
  names: [],
};
