import type { Socket } from 'node:net';

/** Description of a client for records. All values come from the system, never from the client. */
export interface ClientDescription {
  /** Absent when the daemon cannot see the process. */
  readonly pid?: number | undefined;
  /** Linux only. */
  readonly uid?: number | undefined;
  /** SID. Windows only. */
  readonly account?: string | undefined;
  /** Windows session. Host services run in session 0; a container has its own sessions. */
  readonly session?: number | undefined;
  /** `unknown` when the client ended before the daemon inspected it. Absent for a client on the host itself. */
  readonly container?: string | undefined;
  /** Source address of a client of a relayed port; nothing else is known of it. */
  readonly address?: string | undefined;
}

/** The peer of a connection, as the system identifies it. */
export interface ClientIdentity {
  /** Key for quotas: the container, else the account. A key per process would be useless, because processes are cheap to create. */
  readonly key: string;
  /** Whether the client has the daemon's rights and is outside any container. Administrators have a reserved part of each resource. */
  readonly isAdministrator: boolean;
  /** True when the system cannot tell clients apart. All of them then have this identity. */
  readonly isEverybody: boolean;
  readonly description: ClientDescription;
  /** Names of this client, such as `user:1000`, to compare with `for` in a whitelist entry. Empty when the client cannot be inspected. */
  readonly names: readonly string[];
}

/** Identifies the client of an accepted connection before the daemon reads from it. Never throws. */
export type IdentifyClient = (connection: Socket) => ClientIdentity;

/** Quota key that all unidentified clients share. Its quotas are small, because a client can avoid identification on purpose. */
export const UNIDENTIFIED = 'unidentified';

/** Identity of a client that ended before it could be inspected. */
export const UNIDENTIFIED_CLIENT: ClientIdentity = {
  key: UNIDENTIFIED,
  isAdministrator: false,
  isEverybody: false,
  description: { container: 'unknown' },
  names: [],
};

/** Identity of every client on systems that do not identify clients. */
export const EVERYBODY: ClientIdentity = {
  key: 'unknown',
  isAdministrator: false,
  isEverybody: true,
  description: {},
  names: [],
};
