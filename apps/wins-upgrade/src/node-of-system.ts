import type { InstallPaths, NodeHost } from '@wins/installation';
import type { SignersOf, SystemParts, UpgradeContext } from '@wins/service-upgrade';
import type { DialPipe } from './daemon-client.js';

export interface NodeParts {
  readonly paths: InstallPaths;
  /** Context for replacing the program. It has no `signers`, because a rollback may restore a program that these signers did not sign. */
  readonly upgrade: UpgradeContext;
  readonly signers: SignersOf;
  /**
   * Connects to a pipe only if the daemon's service or a privileged account serves it. Absent where pipes are Unix sockets, because the owner
   * of the socket file proves who serves the pipe.
   */
  readonly dialOf?: DialPipe;
  readonly system: Pick<NodeHost, 'platform' | 'stores' | 'strangersIn' | 'isBeingRemoved'>;
  /** Works even before the node has a service, unlike an upgrade's lock, which lies beside the service's program. */
  readonly lockNode: () => Promise<AsyncDisposable | undefined>;
}

export type NodeOfSystem = Omit<NodeParts, 'upgrade' | 'signers'> & {
  readonly upgrade: SystemParts;
};
