import type { Clock } from '@wins/time';
import type { FileTrust } from '@wins/trusted-files';
import type { ArchiveLimits } from './archive/archive-limits.js';
import type { CsiProxyState } from './decide/component-state.js';
import type { Decision } from './decide/decide.js';
import type { CsiProxyService, Download } from './ports.js';
import type { CsiProxyWish, DownloadTrust } from './settings/judge-settings.js';

/** What is about to be done to a node; `tidy` and `remove` delete programs. */
export type CsiProxyAct =
  | {
      readonly kind: 'fetch';
      readonly version: string;
      /** Without user, password and query. */
      readonly address: string;
      readonly sha256?: string;
    }
  | {
      readonly kind: 'switch' | 'start' | 'remove' | 'tidy';
      readonly reason: string;
      /** The program that is started; absent when none is. */
      readonly program?: string;
    };

/** What happens. */
export type CsiProxyEvent =
  | { readonly kind: 'stateChanged'; readonly state: CsiProxyState }
  | { readonly kind: 'warning'; readonly message: string };

/** What the component works with. */
export interface CsiProxyOptions {
  /** Where the record of what was installed is kept: an absolute path; it is made private, or found so. */
  readonly stateFolder: string;
  readonly service: CsiProxyService;
  /** A download from servers that are verified so. @throws what keeps it from being made, such as a file of authorities that is not there. */
  readonly downloadFor: (trust: DownloadTrust) => Promise<Download>;
  readonly trust: FileTrust;
  readonly clock: Clock;
  /** Resolves once the act is recorded; when it rejects, the act does not happen. */
  readonly onAct: (act: CsiProxyAct) => Promise<void>;
  readonly onEvent: (event: CsiProxyEvent) => void;
  /** Where the original installs csi-proxy: a service that runs this is taken over. Default: there is no such place. */
  readonly goProgram?: string;
  /** When none is wanted, also takes away a service that runs `goProgram`, and that file. Default: both stay. */
  readonly removesGo?: boolean;
  /** Whether names of files have no case. Default: as on this system. */
  readonly isWindows?: boolean;
  /** What a program begins with. Default: `MZ`. */
  readonly programMagic?: Uint8Array;
  /** Default: 256 MiB, 512 MiB unpacked, 1,024 entries. */
  readonly limits?: Partial<ArchiveLimits>;
  /** How long csi-proxy, which never ends by itself, may take to. Default: 5,000 ms. */
  readonly graceMs?: number;
  /** How often it is looked whether the service runs. Default: 60,000 ms. */
  readonly lookEveryMs?: number;
  /** From 0 to 1, for the waits after failures. Default: random. */
  readonly random?: () => number;
}

/** Where the component stands. Nothing in it is a secret. */
export interface CsiProxyStatus {
  readonly state: CsiProxyState;
  /** What is wanted; absent: nothing. */
  readonly wanted?: Pick<CsiProxyWish, 'version' | 'sha256' | 'args' | 'folder'> & {
    /** Without its query. */
    readonly address: string;
  };
}

/** Keeps csi-proxy on a node as it is wanted, until it is closed. Whatever goes wrong becomes a state, and is tried again. */
export interface CsiProxy extends AsyncDisposable {
  readonly status: CsiProxyStatus;
  /** Wants something else from now on; undefined: nothing. A download for what is not wanted any more is given up. */
  want(wish: CsiProxyWish | undefined): void;
  /** The steps that would be taken now. @throws CsiProxyError `fileFailed`, `serviceFailed`. */
  plan(): Promise<readonly Decision[]>;
  /** Works at once, whatever is waited for, and resolves with what came of it. @throws CsiProxyError `closed`; the reason of the signal. */
  apply(signal?: AbortSignal): Promise<CsiProxyStatus>;
  /** Ends the work; a change of the service that was begun is ended by the next one. The service runs on. Idempotent. */
  close(): Promise<void>;
}
