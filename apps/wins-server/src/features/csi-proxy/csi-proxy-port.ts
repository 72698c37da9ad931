import type { TlsSettings } from '@wins/config';
import type { Download } from '@wins/rancher-client';
import type { Clock } from '@wins/time';
import type { FileTrust } from '@wins/trusted-files';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Decision } from '../../kernel/audit/decision.js';
import type { CsiProxyState } from './decide/component-state.js';
import type { ServiceCommand } from './decide/install-record.js';

export interface ServiceFacts {
  /** Undefined when the command line names no program. */
  readonly command: ServiceCommand | undefined;
  readonly isRunning: boolean;
  readonly isDisabled: boolean;
}

export interface CsiProxyService {
  readonly name: string;
  query(): Promise<ServiceFacts | undefined>;
  /** Registers a new service, which starts automatically as SYSTEM. */
  create(command: ServiceCommand): Promise<void>;
  /** Changes the command durably and atomically. A running process keeps its command. */
  setCommand(command: ServiceCommand): Promise<void>;
  /** Resolves once the process exists. No error if it already runs. */
  start(): Promise<void>;
  /** Stops the service, and kills its process after `graceMs`: csi-proxy keeps running when its service stops. */
  stop(graceMs: number): Promise<void>;
  /** Ends processes that still run this program, because a csi-proxy that outlived its service keeps the pipes. */
  endLeftovers(program: string): Promise<void>;
  /** Removes a stopped service, if there is one. */
  remove(): Promise<void>;
  /** True when any process serves the pipe `csi-proxy-filesystem-v1`. */
  isServing(): Promise<boolean>;
}

export interface KeeperOptions {
  /** Absolute path of the folder with the installation record. The folder must be private, and is created if missing. */
  readonly stateFolder: string;
  readonly service: CsiProxyService;
  /** @throws if a download is impossible, for example without the file of certificate authorities. */
  readonly downloadFor: (trust: TlsSettings) => Promise<Download>;
  readonly trust: FileTrust;
  readonly clock: Clock;
  /** Resolves once the action is recorded; a rejection cancels the action. */
  readonly onDecision: (decision: Decision) => Promise<void> | undefined;
  readonly onState: (state: CsiProxyState) => void;
  readonly onWarning: (message: string) => void;
  /** Path of the csi-proxy from the Go release of wins. A service that runs it is adopted. Default: none. */
  readonly goProgram?: string;
  /** True: removal covers `goProgram` and its service too. Default: both stay. */
  readonly removesGo?: boolean;
  /** First bytes of a program. Default: `MZ`. */
  readonly programMagic?: Uint8Array;
  /** Grace period after csi-proxy's service stops. Then the process is killed, because csi-proxy does not end with its service. Default: 5,000 ms. */
  readonly graceMs?: number;
}

export type CsiProxyManager = Pick<KeeperOptions, 'service' | 'goProgram' | 'programMagic'>;

/** Specs replace these values before first use (docs/adr/0048-ship-no-test-doubles.md). */
export const csiProxyHost: {
  /** Reason why csi-proxy cannot run here, if any. */
  lacks: string | undefined;
  /** Default: the service manager of Windows. */
  manager?: () => CsiProxyManager;
} = {
  lacks: process.platform === 'win32' ? undefined : 'csi-proxy is for Windows nodes only',
};

export function stateFolderOf(configFile: string): string {
  return path.join(path.dirname(path.resolve(configFile)), 'csi-proxy');
}

export function hasRecord(stateFolder: string): boolean {
  return existsSync(path.join(stateFolder, 'state.json'));
}
