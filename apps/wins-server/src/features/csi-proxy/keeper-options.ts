import type { TlsSettings } from '@wins/config';
import type { Download } from '@wins/rancher-server';
import type { Clock } from '@wins/time';
import type { FileTrust } from '@wins/trusted-files';
import type { Decision } from '../../kernel/audit/record-policy.js';
import type { CsiProxyService } from './csi-proxy-port.js';
import type { CsiProxyState } from './decide/component-state.js';

/** What csi-proxy is kept with. */
export interface KeeperOptions {
  /** Where the record of what was installed is kept: an absolute path; it is made private, or found so. */
  readonly stateFolder: string;
  readonly service: CsiProxyService;
  /** A download from servers that are verified so. @throws what keeps it from being made, such as a file of authorities that is not there. */
  readonly downloadFor: (trust: TlsSettings) => Promise<Download>;
  readonly trust: FileTrust;
  readonly clock: Clock;
  /** Resolves once the act is recorded; when it rejects, the act does not happen. */
  readonly onAct: (act: Decision) => Promise<void> | undefined;
  readonly onState: (state: CsiProxyState) => void;
  readonly onWarning: (message: string) => void;
  /** Where the original installs csi-proxy: a service that runs this is taken over. Default: there is no such place. */
  readonly goProgram?: string;
  /** When none is wanted, also takes away a service that runs `goProgram`, and that file. Default: both stay. */
  readonly removesGo?: boolean;
  /** What a program begins with. Default: `MZ`. */
  readonly programMagic?: Uint8Array;
  /** How long csi-proxy, which never ends by itself, may take to. Default: 5,000 ms. */
  readonly graceMs?: number;
}
