import {
  UNIDENTIFIED,
  UNIDENTIFIED_CLIENT,
  type ClientIdentity,
  type IdentifyClient,
} from '@wins/base';
import type { PipeClient, PipeProtection } from './secured-pipe.js';

/** Session of the host's services; a container has its own sessions. */
const SERVICES = 0;
/** SID prefix of accounts that exist in containers only: ContainerAdministrator, ContainerUser. */
const OF_CONTAINERS = 'S-1-5-93-';
/** Identifies clients by account and session of the process at the other end. */
export function windowsClients(
  { clientOf }: Pick<PipeProtection, 'clientOf'>,
  isOfAdministrators = false,
): IdentifyClient {
  return (connection) => {
    const client = clientOf(connection);
    return client === undefined ? UNIDENTIFIED_CLIENT : windowsClient(client, isOfAdministrators);
  };
}

/**
 * @param isOfAdministrators - True for a pipe that no container can open. On such a pipe, an administrator may be in
 * any session. On other pipes, only session 0 proves that the client is not in a container. Default: false.
 */
export function windowsClient(client: PipeClient, isOfAdministrators = false): ClientIdentity {
  const { pid, session, account } = client;
  const user = account?.user ?? 'unknown';
  const isOfContainers = user.startsWith(OF_CONTAINERS);
  const isOfHost = (session === SERVICES || isOfAdministrators) && !isOfContainers;
  const isAdministrator = isOfHost && account?.isPrivileged === true;
  return {
    key: account === undefined ? UNIDENTIFIED : `account:${user} session:${session ?? 'unknown'}`,
    isAdministrator,
    isEverybody: false,
    description: {
      pid,
      ...(account !== undefined && { account: user }),
      ...(session !== undefined && { session }),
      ...(isOfContainers && { container: `session ${session ?? 'unknown'}` }),
    },
    // A container's image may define an account that has the SID of a host account. Therefore name an account only if
    // the client is certainly on the host, or if the SID is one that only containers use.
    names: [
      ...(isAdministrator ? ['administrators'] : []),
      ...(account !== undefined && (isOfHost || isOfContainers) ? [`account:${user}`] : []),
      ...(isOfContainers ? [`container:session ${session ?? 'unknown'}`] : []),
    ],
  };
}
