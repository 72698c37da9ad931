import type { AuditTrail } from '@wins/audit-log';
import type { LoadedConfig } from '@wins/config';
import type { CsiProxy, CsiProxyEvent } from '@wins/csi-proxy';
import type { FileTrust } from '@wins/trusted-files';
import { messageOf } from '@wins/wins-program';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../log/logger.js';
import type { DaemonEvents } from '../../kernel/daemon-events.js';
import { csiProxyHost, type CsiProxyHost } from './csi-proxy-host.js';
import { csiProxyDecision, logCsiProxyEvent } from './csi-proxy-log.js';
import { csiProxySettings, hasRecord, type CsiProxySettings } from './csi-proxy-settings.js';
import { features, type Features } from '../../load-features.js';

/** How long a daemon that ends waits. */
const CLOSE_MS = 5_000;

/** What the switch works with. */
export interface CsiProxySwitchOptions {
  readonly logger: Logger;
  readonly audit: Pick<AuditTrail, 'decided'>;
  readonly trust: FileTrust;
  /** Told of its states. Default: nobody is told. */
  readonly events?: DaemonEvents;
  /** Default: as this system has it. */
  readonly host?: CsiProxyHost;
  /** Default: the program beside this one. */
  readonly load?: Features['csiProxy'];
}

/**
 * Turns the keeping of csi-proxy on and off, as the config says. Whatever becomes of it, the daemon serves: nothing here is waited for, and nothing
 * throws.
 */
export class CsiProxySwitch implements AsyncDisposable {
  readonly #options: CsiProxySwitchOptions;
  readonly #host: CsiProxyHost;
  #wanted: CsiProxySettings | undefined;
  #isClosing = false;
  #kept: CsiProxy | undefined;
  #failure: string | undefined;
  // One change at a time, the newest last.
  #changes = Promise.resolve();

  /** Called when `isWell` may have changed. */
  onChange: () => void = () => undefined;

  constructor(options: CsiProxySwitchOptions) {
    this.#options = options;
    this.#host = options.host ?? csiProxyHost();
  }

  /** What keeps csi-proxy; undefined while nothing does. */
  get kept(): Pick<CsiProxy, 'status' | 'plan' | 'apply'> | undefined {
    return this.#kept;
  }

  /** Why nothing does. */
  get reason(): string {
    if (this.#host.kind === 'none') return this.#host.reason;
    if (this.#wanted === undefined) return 'the daemon is starting or stopping';
    if (this.#wanted.kind === 'none') return 'the config has no section csi-proxy';
    if (this.#wanted.kind === 'invalid')
      return this.#wanted.faults
        .map(({ keyPath, found, wanted }) => `${keyPath}: found ${found}; wanted ${wanted}`)
        .join('; ');
    return this.#failure ?? 'it is starting';
  }

  /** False when csi-proxy is wanted, and cannot be had now. */
  get isWell(): boolean {
    if (this.#host.kind === 'none') return true;
    if (this.#wanted?.kind === 'invalid' || this.#failure !== undefined) return false;
    return this.#kept?.status.state.kind !== 'failed';
  }

  /** Applies these settings. The same settings again change nothing. */
  apply({ config, path: file }: Pick<LoadedConfig, 'config' | 'path'>): void {
    const wanted = csiProxySettings(config, file);
    if (this.#isClosing || isDeepStrictEqual(wanted, this.#wanted)) return;
    this.#wanted = wanted;
    this.#change();
  }

  /**
   * Turns it off for good; the service runs on. A change of the service that takes longer than 5 s is not waited for: the next daemon ends it.
   * Idempotent.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#wanted = undefined;
    this.#change();
    await Promise.race([this.#changes, delay(CLOSE_MS, undefined, { ref: false })]);
  }

  #change(): void {
    const wanted = this.#wanted;
    this.#changes = this.#changes.then(() => this.#become(wanted));
  }

  async #become(wanted: CsiProxySettings | undefined): Promise<void> {
    const { logger } = this.#options;
    this.#failure = undefined;
    try {
      if (wanted?.kind === 'wanted') await this.#want(wanted, wanted.wish);
      // What was installed is taken away; of what never was there is no record, and nothing is loaded.
      else if (wanted?.kind === 'none' && (this.#kept ?? hasRecord(wanted.stateFolder)))
        await this.#want(wanted, undefined);
      else await this.#close();
    } catch (err) {
      this.#failure = `it cannot start: ${messageOf(err)}`;
      logger.error({ err }, 'cannot keep csi-proxy');
    }
    this.onChange();
  }

  async #want(
    { stateFolder }: Extract<CsiProxySettings, { readonly stateFolder: string }>,
    wish: Parameters<CsiProxy['want']>[0],
  ): Promise<void> {
    const host = this.#host;
    if (host.kind === 'none') return;
    if (this.#kept !== undefined) {
      this.#kept.want(wish);
      return;
    }
    const { audit, trust, load = () => features().csiProxy() } = this.#options;
    const onAct = async (act: Parameters<typeof csiProxyDecision>[0]): Promise<void> =>
      audit.decided(csiProxyDecision(act));
    const onEvent = (event: CsiProxyEvent): void => this.#told(event);
    const parts = { host, stateFolder, trust, onAct, onEvent };
    this.#kept = await load().startCsiProxy(parts, wish);
  }

  async #close(): Promise<void> {
    const kept = this.#kept;
    this.#kept = undefined;
    await kept?.close();
  }

  #told(event: CsiProxyEvent): void {
    logCsiProxyEvent(this.#options.logger, event);
    if (event.kind !== 'stateChanged') return;
    const { events } = this.#options;
    events?.publish({ type: 'csiProxy', state: event.state.kind });
    this.onChange();
    if (event.state.kind === 'absent' || event.state.kind === 'serving') this.#endIfDone();
  }

  /** Nothing is wanted, and nothing of ours is left: nothing needs to be looked at any more. */
  #endIfDone(): void {
    if (this.#wanted?.kind !== 'none') return;
    this.#changes = this.#changes.then(async () => {
      if (this.#wanted?.kind === 'none') await this.#close();
    });
  }
}
