import type { TlsSettings } from '@wins/config';
import type { Download } from '@wins/rancher-client';
import type { Clock } from '@wins/time';
import type { FileTrust } from '@wins/trusted-files';
import type { Decision } from '../../kernel/audit/decision.js';
import type { CsiProxyState } from './decide/component-state.js';
import type { ServiceCommand } from './decide/install-record.js';

export interface ServiceFacts {
  /** Its program by its absolute path, and its arguments; undefined when the words name no program. */
  readonly command: ServiceCommand | undefined;
  /** Whether it runs, or is on its way to. */
  readonly isRunning: boolean;
  /** Whether its manager starts it for no one. */
  readonly isDisabled: boolean;
}

/** The service manager, for the one service of csi-proxy. Nothing in it decides. */
export interface CsiProxyService {
  readonly name: string;
  query(): Promise<ServiceFacts | undefined>;
  /** Registers the service: started with the system, in the name of the system. It must not exist. */
  create(command: ServiceCommand): Promise<void>;
  /** Changes what the service runs, as one durable act. What runs already goes on. */
  setCommand(command: ServiceCommand): Promise<void>;
  /** Starts it, and resolves once its process exists. Running already is no error. */
  start(): Promise<void>;
  /**
   * Stops it, from any state, and resolves when its process is gone. csi-proxy reports that it has stopped and lives on: what does not end
   * within `graceMs` is ended by its handle. Stopped already is no error.
   */
  stop(graceMs: number): Promise<void>;
  /** Ends what still runs this program: a csi-proxy that outlived an earlier stop keeps the pipes. */
  endLeftovers(program: string): Promise<void>;
  /** Removes the registration of a stopped service. None is no error. */
  remove(): Promise<void>;
  /** Whether the pipe `csi-proxy-filesystem-v1` is served by any process. */
  isServing(): Promise<boolean>;
}

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
  /** First bytes of a program. Default: `MZ`. */
  readonly programMagic?: Uint8Array;
  /** How long csi-proxy, which never ends by itself, may take to. Default: 5,000 ms. */
  readonly graceMs?: number;
}
