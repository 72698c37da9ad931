/**
 * Reference model of detached runs: the rules of docs/detached-runs.md, without files, processes and waits. This file is long, because all rules
 * change the same runs.
 */
import {
  BACKOFFS,
  isOver,
  isSeenBy,
  newRun,
  oldestEnded,
  type Bytes,
  type Grant,
  type ModelClient,
  type ModelRun,
  type Wanted,
} from './model-run.js';

/** Few, so that histories often reach the limit. */
export const MAX_RUNS = 2;
const HEALTHY_MS = 600_000;
/** A plan that could not be written is written again after this time. */
const STORE_AGAIN_MS = 1000;
/** A run that an earlier daemon started is kept for so long, for its clients. */
const ADOPTED_MS = 60_000;
const HOST: ModelClient = { key: 'host', short: 'host' };
const LOST = { code: 137, reason: 'hostFailed' };

export class RunModel {
  runs: ModelRun[] = [];
  /** Starts so far, which tell processes apart. */
  starts = 0;
  isUp = true;
  isKeeperDead = false;
  /** False for real files. */
  canFillDisk = false;
  isDiskFull = false;
  monoMs = 0;
  wallMs = 0;
  readonly files = new Map<string, Bytes>();
  readonly grants = new Map<string, Grant>();
  wanted: readonly Wanted[] = [];

  get living(): readonly ModelRun[] {
    return this.runs.filter(
      (run) => run.state === 'running' && run.unseen === undefined && run.isGone !== true,
    );
  }

  /** Stops the only run of a program that the client sees. */
  stopProcess(
    client: ModelClient,
    program: string,
    force: boolean,
  ): ModelRun['end'] | string | undefined {
    const [run, ...others] = this.runs.filter(
      (each) =>
        each.program === program &&
        each.isBegun &&
        ['running', 'waiting'].includes(each.state) &&
        isSeenBy(each, client),
    );
    if (others.length > 0) return 'invalidArgument';
    return run && this.stop(run, force);
  }

  /** @returns The run, or the code of the refusal. `name` is chosen by the daemon if it is empty. */
  start(
    client: ModelClient,
    name: string,
    replace: boolean,
    what: Pick<ModelRun, 'program' | 'token' | 'policy' | 'bytes' | 'isBrief'>,
  ): ModelRun | string {
    if (client.isUnidentified === true) return 'callerNotAllowed';
    const own = this.runs.filter(({ owner }) => owner === client);
    let earlier = own.filter((run) => run.name === name);
    if (name === '') earlier = replace ? own.filter(({ program }) => program === what.program) : [];
    if (earlier.length > 1) return 'invalidArgument';
    if (earlier.length > 0 && !replace) return 'alreadyRunning';
    const [old] = earlier;
    const run: ModelRun = { ...newRun(client, name), ...what };
    const refused = this.refusal(run) ?? this.#makeRoom(client, what.program, old);
    if (refused !== undefined) {
      if (old !== undefined) this.stored(old);
      return refused;
    }
    if (old === undefined) this.runs.push(run);
    else Object.assign(old, what, { restarts: 0 });
    return this.#begin(old ?? run, 'byHand');
  }

  startAgain(run: ModelRun): string {
    if (run.state === 'running') return 'ok';
    return this.restart(run);
  }

  restart(run: ModelRun): string {
    const refused = this.refusal(run);
    if (refused === undefined) this.#begin(run, 'byHand');
    else this.stored(run);
    return refused ?? 'ok';
  }

  stop(run: ModelRun, force = false): ModelRun['end'] {
    if (run.state === 'ended' && run.kept === undefined) {
      if (run.storeMs !== undefined) this.stored(run);
      return run.end;
    }
    const wasOver = isOver(run);
    const wasRunning = run.state === 'running';
    if (wasRunning) this.#over(run, { code: force ? 137 : 143, reason: 'stopped' });
    run.state = 'stopped';
    // The recorded end says so, too.
    this.stored(run, wasRunning);
    this.#forgetIfBrief(run);
    return wasOver ? run.end : { code: run.end.code, reason: 'stopped' };
  }

  remove(run: ModelRun): void {
    this.runs = this.runs.filter((each) => each !== run);
  }

  /** The program of a run ends by itself. */
  ends(run: ModelRun, code: number): void {
    const livedMs = this.monoMs - run.startedMs;
    if (this.isUp) {
      this.#ended(run, { code, reason: 'exited' }, livedMs, this.wallMs);
      this.#forgetIfBrief(run);
    } else if (!this.isKeeperDead)
      run.unseen = { code, reason: 'exited', wallMs: this.wallMs, livedMs };
    else run.isGone = true;
  }

  keeperDies(): void {
    if (this.isUp)
      for (const run of this.living) {
        this.#lost(run);
        this.#forgetIfBrief(run);
      }
    else this.isKeeperDead = this.living.length > 0;
  }

  daemonStarts(): void {
    this.isUp = true;
    for (const run of this.runs) {
      const { unseen } = run;
      run.isAdopted = true;
      if (run.isGone === true || (this.isKeeperDead && this.living.includes(run))) this.#lost(run);
      Object.assign(run, { ...run.planned, storeMs: undefined, unseen: undefined, isGone: false });
      // The clock may have been set between the daemons: the wait is never longer than the longest.
      if (unseen !== undefined) this.#ended(run, unseen, unseen.livedMs, unseen.wallMs);
      // A daemon knows the ends before its start by the time of day alone.
      run.endedMs = this.monoMs - Math.max(0, this.wallMs - run.endedAtWallMs);
      run.dueMs =
        this.monoMs + Math.min(run.backoff.maxDelayMs, Math.max(0, run.dueAtWallMs - this.wallMs));
    }
    this.isKeeperDead = false;
    for (const run of this.runs)
      if (run.isBrief && isOver(run) && this.monoMs - run.endedMs >= ADOPTED_MS) this.remove(run);
    for (const run of this.runs.filter(({ kept }) => kept !== undefined))
      if (!run.isBegun || run.state === 'ended' || run.state === 'gaveUp') this.remove(run);
    this.reload(this.wanted);
    this.pass(0);
  }

  reload(wanted: readonly Wanted[]): void {
    this.wanted = wanted;
    if (!this.isUp) return;
    const fits = (run: ModelRun): boolean =>
      wanted.some(({ name, variant }) => name === run.name && variant === run.kept);
    for (const run of this.runs) if (run.kept !== undefined && !fits(run)) this.remove(run);
    for (const { name, program, variant, policy } of wanted) {
      if (this.runs.some((run) => run.kept !== undefined && run.name === name)) continue;
      const token = `${name} ${variant}`;
      const run: ModelRun = { ...newRun(HOST, name), kept: variant, program, token, policy };
      this.runs.push(run);
      this.#try(run);
    }
  }

  setClock(byMs: number): void {
    this.wallMs += byMs;
  }

  pass(ms: number): void {
    const endMs = this.monoMs + ms;
    for (;;) {
      const next = this.next(endMs);
      if (next === undefined) break;
      this.#advance(Math.max(this.monoMs, next.dueMs));
      this.#try(next);
    }
    this.#advance(endMs);
  }

  /** Returns the run that starts again first, at this time or earlier. */
  next(endMs: number): ModelRun | undefined {
    const due = this.isUp
      ? this.runs.filter(({ state, dueMs }) => state === 'waiting' && dueMs <= endMs)
      : [];
    return due.sort((a, b) => a.dueMs - b.dueMs)[0];
  }

  /** A run whose replacement failed after its end starts again at once. */
  comesBack(run: ModelRun): void {
    Object.assign(run, { state: 'waiting', failures: 0, refusals: 0, dueMs: this.monoMs });
    this.stored(run);
    this.pass(0);
  }

  /** A start again was refused for a reason that may pass. */
  refused(run: ModelRun): void {
    run.refusals += 1;
    this.#wait(run, this.wallMs);
    this.stored(run);
  }

  /** The daemon writes the plan of a run. @param isRecorded - True: the next daemon finds it in the record of the end, which has its space on the disk. */
  stored(run: ModelRun, isRecorded = false): void {
    const { state, dueAtWallMs, restarts, failures, refusals } = run;
    if (this.isDiskFull && run.isBegun) run.storeMs ??= this.monoMs + STORE_AGAIN_MS;
    if (this.isDiskFull && !isRecorded) return;
    run.planned = { state, dueAtWallMs, restarts, failures, refusals };
  }

  #storeLate(run: ModelRun, toMs: number): void {
    while (this.isUp && run.storeMs !== undefined && run.storeMs <= toMs) {
      run.storeMs = this.isDiskFull ? run.storeMs + STORE_AGAIN_MS : undefined;
      this.stored(run);
    }
  }

  #forgetIfBrief(run: ModelRun): void {
    if (run.isBrief && run.isBegun && isOver(run) && !run.isAdopted) this.remove(run);
  }

  #advance(toMs: number): void {
    for (const run of this.runs) this.#storeLate(run, toMs);
    this.wallMs += toMs - this.monoMs;
    this.monoMs = toMs;
  }

  /** A run below the number of its entry starts; ended ones make room, the oldest first. */
  #makeRoom(client: ModelClient, program: string, old: ModelRun | undefined): string | undefined {
    const others = this.runs.filter(
      (run) => run.owner === client && run.program === program && run !== old,
    );
    if (old?.program === program || others.length < MAX_RUNS) return undefined;
    const oldest = oldestEnded(others);
    if (oldest === undefined) return 'tooManyProcesses';
    this.remove(oldest);
    return this.#makeRoom(client, program, old);
  }

  refusal({ program, policy, bytes, kept }: ModelRun): string | undefined {
    const grant = this.grants.get(program) ?? 'none';
    if (kept === undefined && grant === 'none') return 'pathNotAllowed';
    if (kept === undefined && policy !== 'no' && grant === 'noRestart') return 'detachedNotAllowed';
    const found = this.files.get(program);
    if (found === undefined) return 'notFound';
    if (this.isDiskFull) return 'stagingFailed';
    return kept !== undefined || found === bytes ? undefined : 'checksumMismatch';
  }

  #begin(run: ModelRun, how: 'byHand' | 'again'): ModelRun {
    if (how === 'byHand') run.failures = 0;
    else if (run.isBegun) run.restarts += 1;
    const grant = run.kept === undefined ? (this.grants.get(run.program) ?? 'none') : 'all';
    run.backoff = BACKOFFS[grant] ?? run.backoff;
    Object.assign(run, { state: 'running', isBegun: true, refusals: 0, isAdopted: false });
    this.stored(run);
    return Object.assign(run, { startedMs: this.monoMs, startedAtWallMs: this.wallMs });
  }

  #try(run: ModelRun): void {
    const refused = this.refusal(run);
    if (refused === undefined) this.#begin(run, 'again');
    else if (refused === 'notFound' || refused === 'stagingFailed') this.refused(run);
    else {
      run.state = 'gaveUp';
      this.stored(run);
    }
  }

  #wait(run: ModelRun, fromWallMs: number): void {
    const { delayMs: firstMs, maxDelayMs } = run.backoff;
    const doublings = Math.max(1, run.failures + run.refusals) - 1;
    const delayMs = Math.min(maxDelayMs, firstMs * 2 ** doublings) / 2;
    const dueAtWallMs = fromWallMs + delayMs;
    Object.assign(run, {
      state: 'waiting',
      dueAtWallMs,
      dueMs: this.monoMs + dueAtWallMs - this.wallMs,
    });
  }

  #lost(run: ModelRun): void {
    const seenMs = run.isAdopted ? this.wallMs - run.startedAtWallMs : this.monoMs - run.startedMs;
    this.#ended(run, LOST, seenMs, this.wallMs);
  }

  #over(run: ModelRun, end: ModelRun['end'], endedAtWallMs = this.wallMs): void {
    Object.assign(run, { end, endedAtWallMs, endedMs: this.monoMs });
  }

  #ended(run: ModelRun, end: ModelRun['end'], livedMs: number, wallMs: number): void {
    this.#over(run, { code: end.code, reason: end.reason }, wallMs);
    const [when, most = Infinity] = run.policy.split(':');
    run.state = 'ended';
    if (when !== 'no' && (when !== 'on-failure' || end.code !== 0)) {
      run.failures = livedMs < HEALTHY_MS ? run.failures + 1 : 1;
      if (run.failures > Math.min(Number(most), run.backoff.giveUpAfter ?? Infinity))
        run.state = 'gaveUp';
      else this.#wait(run, wallMs);
    }
    this.stored(run, true);
  }
}
