import { SERVICE_STATUS } from '../win32/structures.js';
import { SERVICE_SPECIFIC_ERROR, stateNumber } from './service-wait.js';

/** Reason why a service is asked to end. */
export type ServiceStopReason = 'stop' | 'shutdown' | 'preshutdown';

export type ServicePhase =
  | { readonly kind: 'startPending'; readonly checkpoint: number }
  | { readonly kind: 'running' }
  | { readonly kind: 'stopPending'; readonly checkpoint: number }
  /** Every `exitCode` other than 0 triggers the failure actions. */
  | { readonly kind: 'stopped'; readonly exitCode: number };

/** Legal transitions. A move to the same phase reports progress. */
type Moves = Readonly<Record<ServicePhase['kind'], readonly ServicePhase['kind'][]>>;
export const SERVICE_MOVES: Moves = {
  startPending: ['startPending', 'running', 'stopPending', 'stopped'],
  running: ['stopPending', 'stopped'],
  stopPending: ['stopPending', 'stopped'],
  stopped: [],
};

export const SERVICE_FAILED = 1;

const PROGRESS_EVERY_MS = 2000;
/** Time that the service control manager waits for the next sign of progress. */
const WAIT_HINT_MS = 10_000;

/**
 * The only writer of a service's phase. Reports progress during a pending phase, as long as the event loop runs. If the
 * phase takes too long, reports that the service failed, so that Windows runs its failure actions.
 */
export class ServiceLifecycle {
  #phase: ServicePhase = { kind: 'startPending', checkpoint: 1 };
  readonly #report: (phase: ServicePhase) => void;
  #progress: NodeJS.Timeout | undefined;

  constructor(report: (phase: ServicePhase) => void, startLimitMs: number) {
    this.#report = report;
    report(this.#phase);
    this.#tellProgress(startLimitMs);
  }

  get phase(): ServicePhase {
    return this.#phase;
  }

  /** Has no effect after a request to stop. */
  running(): void {
    this.#move({ kind: 'running' });
  }

  /** Stopping may take `limitMs`. */
  stopping(limitMs: number): void {
    if (this.#phase.kind === 'stopPending') return;
    if (this.#move({ kind: 'stopPending', checkpoint: 1 })) this.#tellProgress(limitMs);
  }

  /** Only the first call has an effect. */
  stopped(exitCode: number): void {
    this.#move({ kind: 'stopped', exitCode });
  }

  #move(next: ServicePhase): boolean {
    if (!SERVICE_MOVES[this.#phase.kind].includes(next.kind)) return false;
    if (next.kind !== this.#phase.kind) clearInterval(this.#progress);
    this.#phase = next;
    this.#report(next);
    return true;
  }

  #tellProgress(limitMs: number): void {
    let left = Math.floor(limitMs / PROGRESS_EVERY_MS);
    this.#progress = setInterval(() => {
      const phase = this.#phase;
      if (left-- <= 0) this.stopped(SERVICE_FAILED);
      else if ('checkpoint' in phase) this.#move({ ...phase, checkpoint: phase.checkpoint + 1 });
    }, PROGRESS_EVERY_MS);
  }
}

const SERVICE_WIN32_OWN_PROCESS = 0x10;
const ACCEPTS_STOP_SHUTDOWN_PRESHUTDOWN = 0x1 | 0x4 | 0x100;

/** A starting service accepts a stop too, because its start may take long. */
export function serviceStatusOf(phase: ServicePhase): Buffer {
  const isPending = 'checkpoint' in phase;
  const acceptsControls = phase.kind === 'startPending' || phase.kind === 'running';
  const exitCode = phase.kind === 'stopped' ? phase.exitCode : 0;
  return SERVICE_STATUS.create({
    dwServiceType: SERVICE_WIN32_OWN_PROCESS,
    dwCurrentState: stateNumber(phase.kind),
    dwControlsAccepted: acceptsControls ? ACCEPTS_STOP_SHUTDOWN_PRESHUTDOWN : 0,
    dwWin32ExitCode: exitCode === 0 ? 0 : SERVICE_SPECIFIC_ERROR,
    dwServiceSpecificExitCode: exitCode,
    dwCheckPoint: isPending ? phase.checkpoint : 0,
    dwWaitHint: isPending ? WAIT_HINT_MS : 0,
  });
}

const STOP_CONTROLS: Readonly<Partial<Record<number, ServiceStopReason>>> = {
  1: 'stop',
  5: 'shutdown',
  15: 'preshutdown',
};
const SERVICE_CONTROL_INTERROGATE = 4;
const ERROR_CALL_NOT_IMPLEMENTED = 120;

/** Sets `stop` to the reason if the control code asks the service to stop. */
export function readControl(control: number): { answer: number; stop?: ServiceStopReason } {
  const stop = STOP_CONTROLS[control];
  if (stop !== undefined) return { answer: 0, stop };
  // The system answers an interrogation with the last reported status.
  const isKnown = control === SERVICE_CONTROL_INTERROGATE;
  return { answer: isKnown ? 0 : ERROR_CALL_NOT_IMPLEMENTED };
}
