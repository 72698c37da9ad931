import { messageOf } from '@wins/wins-program';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DEFAULT_ARCHIVE_LIMITS } from './archive/archive-limits.js';
import type { CsiProxy, CsiProxyEvent, CsiProxyOptions, CsiProxyStatus } from './csi-proxy.js';
import { CsiProxyError, type CsiProxyErrorCode } from './csi-proxy-error.js';
import { planSteps } from './decide/after-step.js';
import { nextState, type CsiProxyState } from './decide/component-state.js';
import { decide, type Decision } from './decide/decide.js';
import { retryDelayMs } from './decide/retry-delay.js';
import { addressOf } from './install/fetch-release.js';
import { withFile } from './install/file-failure.js';
import { NodeLook } from './install/look-at-node.js';
import { RecordFile } from './install/record-file.js';
import { StepWork } from './install/step-work.js';
import type { CsiProxyWish } from './settings/judge-settings.js';

const LOOK_EVERY_MS = 60_000;
/** `MZ`, as each program of Windows. */
const MZ = Uint8Array.of(0x4d, 0x5a);
/** No way to rest has as many. */
const MAX_STEPS = 16;

/** One caller of `apply`, who waits for the end of a pass that begins after the call. */
interface Waiting {
  readonly resolve: (status: CsiProxyStatus) => void;
  readonly reject: (error: CsiProxyError) => void;
}

/** {@link CsiProxy}: one pass after another, each from what is really there to rest, or to a failure. */
export class Keeper implements CsiProxy {
  readonly #options: CsiProxyOptions;
  readonly #look: NodeLook;
  readonly #work: StepWork;
  readonly #closing = new AbortController();
  readonly #working: Promise<void>;
  #wish: CsiProxyWish | undefined;
  #state: CsiProxyState = { kind: 'absent', detail: 'it was not looked yet' };
  #failures = 0;
  /** Ends the wait between two passes. */
  #wake = new AbortController();
  /** Ends the download of the pass that is under way. */
  #download = new AbortController();
  #waiting: Waiting[] = [];

  constructor(options: CsiProxyOptions, wish: CsiProxyWish | undefined) {
    const { stateFolder, service, trust, goProgram, removesGo = false } = options;
    const { isWindows = process.platform === 'win32' } = options;
    const records = new RecordFile(path.join(stateFolder, 'state.json'), trust);
    this.#options = options;
    this.#wish = wish;
    this.#look = new NodeLook({ service, records, trust, goProgram, removesGo, isWindows });
    this.#work = new StepWork({
      ...{ options, records, closing: this.#closing.signal },
      limits: { ...DEFAULT_ARCHIVE_LIMITS, ...options.limits },
      programMagic: options.programMagic ?? MZ,
      onState: (state) => this.#become(state),
    });
    this.#working = this.#run();
  }

  get status(): CsiProxyStatus {
    const wish = this.#wish;
    const { version, sha256, args = [], folder = '' } = wish ?? {};
    return {
      state: this.#state,
      ...(wish && {
        wanted: {
          ...{ version: version ?? '', args, folder, address: addressOf(wish.url) },
          ...(sha256 !== undefined && { sha256 }),
        },
      }),
    };
  }

  want(wish: CsiProxyWish | undefined): void {
    if (isDeepStrictEqual(wish, this.#wish)) return;
    this.#wish = wish;
    this.#failures = 0;
    this.#download.abort(new CsiProxyError('closed', 'something else is wanted now'));
    this.#wake.abort();
  }

  async plan(): Promise<readonly Decision[]> {
    return planSteps(this.#wish, await this.#look.look());
  }

  async apply(signal?: AbortSignal): Promise<CsiProxyStatus> {
    signal?.throwIfAborted();
    if (this.#closing.signal.aborted) throw closed();
    let onAbort = (): void => undefined;
    return await new Promise<CsiProxyStatus>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      onAbort = () => reject(signal?.reason as Error);
      signal?.addEventListener('abort', onAbort);
      this.#wake.abort();
    }).finally(() => signal?.removeEventListener('abort', onAbort));
  }

  async close(): Promise<void> {
    this.#closing.abort(closed());
    await this.#working;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(): Promise<void> {
    const { signal: closing } = this.#closing;
    while (!closing.aborted) {
      const waiting = this.#waiting.splice(0);
      this.#wake = new AbortController();
      const waitMs = await this.#pass();
      for (const { resolve, reject } of waiting) {
        if (this.#closing.signal.aborted) reject(closed());
        else resolve(this.status);
      }
      const woken = AbortSignal.any([closing, this.#wake.signal]);
      await this.#options.clock.wait(waitMs, woken).catch(() => undefined);
    }
    for (const { reject } of this.#waiting.splice(0)) reject(closed());
  }

  /** @returns How long to wait for the next one. Never rejects. */
  async #pass(): Promise<number> {
    const wish = this.#wish;
    this.#download = new AbortController();
    try {
      let last: Decision | undefined;
      for (let steps = 0; ; steps += 1) {
        this.#closing.signal.throwIfAborted();
        if (this.#wish !== wish) return 0;
        const facts = await this.#look.look();
        const step = decide(wish, facts);
        if (step.act === 'rest' || step.act === 'leave') {
          const isWhole = facts.isServing && facts.service?.isRunning === true;
          const kind =
            isWhole && (wish !== undefined || step.act === 'leave') ? 'serving' : 'absent';
          this.#become({ kind, detail: step.reason });
          this.#failures = 0;
          return this.#options.lookEveryMs ?? LOOK_EVERY_MS;
        }
        if (steps >= MAX_STEPS || isDeepStrictEqual(step, last)) {
          const found = `that ${step.reason} also after it was done`;
          const message = `cannot ${step.act} csi-proxy: found ${found}; wanted another state of the node`;
          throw new CsiProxyError('serviceFailed', message);
        }
        last = step;
        await this.#ensureFolder();
        const isOver = await this.#work.perform(step, {
          facts,
          wish,
          download: this.#download.signal,
        });
        if (isOver) {
          this.#failures = 0;
          return this.#options.lookEveryMs ?? LOOK_EVERY_MS;
        }
      }
    } catch (error) {
      if (this.#closing.signal.aborted || this.#wish !== wish) return 0;
      return this.#fail(error);
    }
  }

  #fail(error: unknown): number {
    const code: CsiProxyErrorCode = error instanceof CsiProxyError ? error.code : 'fileFailed';
    const { clock, random = Math.random } = this.#options;
    this.#failures += 1;
    const waitMs = retryDelayMs(code, this.#failures, random());
    const retryAt = new Date(clock.now().getTime() + waitMs);
    const detail = messageOf(error);
    this.#become({ kind: 'failed', code, detail, failures: this.#failures, retryAt });
    return waitMs;
  }

  #become(state: CsiProxyState): void {
    const next = nextState(this.#state, state);
    const isNew = !isDeepStrictEqual(next, this.#state);
    this.#state = next;
    if (isNew) this.#tell({ kind: 'stateChanged', state: next });
  }

  #tell(event: CsiProxyEvent): void {
    this.#options.onEvent(event);
  }

  async #ensureFolder(): Promise<void> {
    const { stateFolder, trust } = this.#options;
    await withFile('use the folder', stateFolder, () => trust.ensurePrivateFolder(stateFolder));
  }
}

function closed(): CsiProxyError {
  return new CsiProxyError('closed', 'cannot go on: csi-proxy is not kept any more');
}
