import type { Socket } from 'node:net';

/** Description of a client for records. All values come from the system, none from the client. */
export interface ClientDescription {
  /** The process that connected; absent when this process cannot see it. */
  readonly pid?: number;
  /** User of the process, on Linux. */
  readonly uid?: number;
  /** SID of the client's account, on Windows. */
  readonly account?: string;
  /** Windows session of the client: host services run in session 0, and a container has its own sessions. */
  readonly session?: number;
  /** Container of the client; `unknown` when the client ended before it could be inspected. Absent on the host itself. */
  readonly container?: string;
}

/** The peer of a connection, as the system identifies it. */
export interface ClientIdentity {
  /** Quota key: the container if there is one, else the account. Not the process, because processes are cheap to create. */
  readonly key: string;
  /** Whether the client has the daemon's rights and is outside any container. A part of each resource is reserved for administrators. */
  readonly isAdministrator: boolean;
  /** Whether the system cannot tell clients apart, so that this identity stands for all of them. */
  readonly isEverybody: boolean;
  readonly description: ClientDescription;
  /** Names by which `for` of a whitelist entry can select this client; empty when the client cannot be inspected. */
  readonly names: readonly string[];
}

/** Identifies the client of a connection when it is accepted, before anything is read from it. Never throws. */
export type IdentifyClient = (connection: Socket) => ClientIdentity;

/** Quota key that all unidentified clients share. Its quotas are smaller, because a client can avoid identification on purpose. */
export const UNIDENTIFIED = 'unidentified';

/** Identity of a client that ended before it could be inspected. */
export const UNIDENTIFIED_CLIENT: ClientIdentity = {
  key: UNIDENTIFIED,
  isAdministrator: false,
  isEverybody: false,
  description: { container: 'unknown' },
  names: [],
};

/** Shared identity for systems that do not identify who connects. */
export const EVERYBODY: ClientIdentity = {
  key: 'unknown',
  isAdministrator: false,
  isEverybody: true,
  description: {},
  names: [],
};
