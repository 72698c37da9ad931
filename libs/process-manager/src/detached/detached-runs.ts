/** Detached runs: living ones in keepers, ended ones on disk. This is the list of them, and who may do what. */
import type { Abortable } from 'node:events';
import type { Note } from '../keeper/note.js';
import { messageOf, quoteText, reporter, type ClientIdentity, type ProcessHost } from '@wins/base';
import { systemClock, type Clock } from '@wins/time';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { GENTLE_MS } from '../keeper/end-keepers.js';
import type { KeeperConnection } from '../keeper/keeper-connection.js';
import { Keepers, type KeepersOptions } from '../keeper/keepers.js';
import { GRACE_MS, hostOf, type HostOf, type ProcessManagerOptions } from '../manager-options.js';
import type { OutputReadOptions } from '../output/output-log.js';
import { Spool, type SpoolOptions, type SpoolReader } from '../output/spool.js';
import { ProcessError } from '../process-error.js';
import type { ProcessManager } from '../process-manager.js';
import type { Keeping, StartRequest } from '../start-request.js';
import type {
  ManagedProcess,
  ProcessOwner,
  StopSelection,
} from '../supervision/managed-process.js';
import { markOf } from '../supervision/run-mark.js';
import {
  hasLease,
  isKept,
  lastEndOf,
  type DetachedRun,
  type DetachedEvent,
} from './detached-run.js';
import { KeptPrograms, type WantedProgram } from './keep-programs.js';
import { RunPlaces, type SpoolShares } from './run-places.js';
import { newPlan, planFile, policyOf, type RestartPlan } from './restart-plan.js';
import { assertAnswers, RunLife, type LifeContext, type Spawning } from './run-life.js';
import { RunFolders } from '../supervision/run-folders.js';
import {
  folderNameOf,
  type DetachedRecord,
  type RunEnd,
  type RunOwner,
} from '../supervision/run-record.js';
import {
  assertLabel,
  findRun,
  findRunIfAny,
  HOST,
  isOwnedBy,
  isSeenBy,
  nameFor,
  ownerFacts,
  ownerName,
  ownerOf,
  runKey,
  theOnly,
  type Asker,
} from './run-names.js';

const SWEEP_EACH_MS = 10 * 60_000;
/** Time that a run with a lease survives without a daemon. An upgrade takes less time. Clients wait equally long for the next daemon. */
const LEASE_MS = 60_000;
const REFUSED = /^cannot start a [a-z ]*run: /;

/** Options of {@link DetachedRuns}. */
export interface DetachedRunsOptions {
  /** The same as the manager's. */
  readonly stateDirectory: string;
  /** The same as the manager's. */
  readonly host: HostOf;
  readonly keepers: KeepersOptions;
  /** Returns when a Windows session began, because the system gives its number again. Default: sessions are not told apart. */
  readonly sessionStart?: ((session: number) => string | undefined) | undefined;
  /** Default: only the bounds of the entries count. */
  readonly spools?: SpoolShares | undefined;
  /** Receives the decisions about runs that no process of the manager has, as the manager's option does. Default: none. */
  readonly onDecision?: ProcessManagerOptions['onDecision'] | undefined;
  /** Default: events are ignored. */
  readonly onEvent?: ((event: DetachedEvent) => unknown) | undefined;
  /** Whether {@link DetachedRuns.close} closes the manager, too. Default false. */
  readonly ownsManager?: boolean | undefined;
  /** Time between asking a run to end and killing it, in milliseconds. Default 10,000. */
  readonly graceMs?: number | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Source of jitter in restart delays, from 0 to less than 1. */
  readonly random?: (() => number) | undefined;
}

/** Client that requests an operation. */
export interface Requester {
  readonly client: ClientIdentity;
  /** Connection, for the audit log. */
  readonly requester: string;
  /** The client's own name for itself, unverified, for the audit log. */
  readonly clientSays?: string | undefined;
}

/** The signal of a call without one. */
const NEVER = new AbortController().signal;

/** The program itself. */
const SELF: Requester = { client: HOST, requester: 'host' };

/** Name, restart policy and requester of a new detached run. */
export interface StartDetachedOptions {
  /** 1 to 63 letters, digits, `.`, `_` and `-`. Default: one is chosen. */
  readonly name?: string | undefined;
  /** `no`, `always`, `on-failure` or `on-failure:N`; all but `no` need the entry's grant. Default `no`. */
  readonly restart?: string | undefined;
  /**
   * Time that the run is kept after its last end, in milliseconds. 0: it is removed once it has ended for good and its readers have all output; it
   * may then have no restart policy. Default, and at most: that of the entry.
   */
  readonly maxAgeMs?: number | undefined;
  /** Default: the program itself. */
  readonly by?: Requester | undefined;
  /** Aborts the start. */
  readonly signal?: AbortSignal | undefined;
}

/** Result of starting a run that its client wants to keep while the manager is replaced. */
export interface LeasedStart {
  readonly run: ManagedProcess;
  /** Time that the run waits for its client, in milliseconds; 0 if the run ends with the manager. */
  readonly leaseMs: number;
  /** Reason why the run ends with the manager although its entry grants more. */
  readonly warning: string | undefined;
}

/** Facts about a detached run that {@link DetachedRun} does not have. */
export interface RunDetails {
  /** Owner's part of the name that administrators use. Undefined for a program that the config keeps. */
  readonly owner: string | undefined;
  /** `no`, `always`, `on-failure` or `on-failure:N`. */
  readonly restart: string;
  /** Bytes of stdout and stderr together so far, including lost ones. */
  readonly outputBytes: number;
  /** Size of the run's files on the disk, in bytes. */
  readonly keptBytes: number;
}

/**
 * Runs that outlive their clients and the manager, and are started again as their policies say. This class is long, because all requests choose among
 * the same runs, and share their keepers and limits.
 */
export class DetachedRuns implements AsyncDisposable {
  readonly #host: ProcessHost;
  readonly #manager: ProcessManager;
  readonly #folders: RunFolders;
  /** All runs, by {@link runKey}; those with a lease by their marks. */
  readonly #entries = new Map<string, RunLife>();
  readonly #programs: KeptPrograms;
  readonly #keepers: Keepers;
  readonly #places: RunPlaces;
  readonly #context: LifeContext;
  readonly #closing = new AbortController();
  /** Aborted when the system shuts down. This daemon then restarts no runs; the next daemon restarts them. */
  readonly #shutdown = new AbortController();
  readonly #options: DetachedRunsOptions;
  readonly #report: (event: DetachedEvent) => void;
  /** True once all runs of earlier daemons are known, except those of keepers that did not answer in time. */
  #isAdopted = false;
  /** Starts and takeovers in progress, which need their keepers. */
  #starts = 0;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(manager: ProcessManager, options: DetachedRunsOptions) {
    const { stateDirectory, clock = systemClock, graceMs = GRACE_MS } = options;
    this.#options = options;
    this.#report = reporter(options.onEvent);
    const host = (this.#host = hostOf(options.host));
    this.#manager = manager;
    const folders = (this.#folders = new RunFolders(stateDirectory));
    const note: Note = (level, text, facts) => this.#note(level, text, facts);
    const { signal: closing } = this.#closing;
    const parts = { host, stateDirectory, folders, closing, clock, graceMs, note };
    this.#keepers = new Keepers({ ...options.keepers, ...parts });
    this.#places = new RunPlaces({
      entries: () => this.#entries.values(),
      folders,
      spools: options.spools,
      forget: (entry) => this.#forget(entry),
      makesRoom: (entry) => this.#makesRoom(entry),
    });
    this.#context = {
      manager,
      folders,
      places: this.#places,
      clock,
      random: options.random,
      note,
      closing,
      shutdown: this.#shutdown.signal,
      now: () => clock.now().getTime(),
      onEvent: this.#report,
      spawn: (request, spawning) => this.#spawn(request, spawning),
      keeperOf: ({ facts }) => this.#keepers.find(facts.supervisor),
      grantOf: (label) => this.#programs.grantOf(label),
      add: (run) => this.#add(run),
      forget: (run) => this.#forget(run),
      forgetSoon: (run) => void this.#forgetSoon(run),
      leaveIdle: () => this.#leaveIdle(),
    };
    this.#programs = new KeptPrograms({
      entries: () => this.#entries.values(),
      note,
      closing,
      begin: (program) => this.#begin(program),
      remove: (run) => run.remove('config'),
    });
  }

  /** Makes the kept runs match `programs`. Takes effect once {@link adopt} has found the earlier runs. */
  keep(programs: readonly WantedProgram[]): void {
    this.#programs.want(programs);
  }

  /** Takes over the runs of earlier daemons, from living keepers and from records on disk. Closes itself after a failure. @throws ProcessError `stateUnavailable`. */
  async adopt(): Promise<void> {
    try {
      await this.#adoptAll();
    } catch (error) {
      // A keeper serves one daemon at a time, so the next try needs this connection closed.
      await this.close();
      throw error;
    }
  }

  async #adoptAll(): Promise<void> {
    const { folder: all } = this.#folders;
    // Refuses records that other accounts could have written.
    if (existsSync(all)) this.#host.ensurePrivateDirectory(all);
    const hasKeeper = await this.#keepers.adopt((keeper) => this.#reached(keeper));
    for (const folder of await this.#folders.marks()) {
      await this.#unlessUnreadable(folder, () => this.#adoptRun(folder, hasKeeper));
    }
    this.#isAdopted = true;
    this.#programs.begin();
    this.#leaveIdle();
    await this.#sweep();
    this.#sweeping = setInterval(() => void this.#sweep(), SWEEP_EACH_MS).unref();
  }

  /** Never rejects: one unreadable run must not stop the other runs or the daemon. */
  async #unlessUnreadable(folder: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (err) {
      this.#note('error', 'cannot read the record of a run', { err, folder });
    }
  }

  async #reached(keeper: KeeperConnection): Promise<void> {
    // The first of its runs may have ended: the keeper looks idle until the others are taken over.
    this.#starts += 1;
    try {
      for (const entry of [...this.#entries.values()])
        if (entry.isWaiting && entry.facts.supervisor === keeper.record.keeper)
          await this.#unlessUnreadable(folderNameOf(entry.facts), () => entry.takeOver(keeper));
    } finally {
      this.#starts -= 1;
    }
    this.#programs.apply();
    this.#leaveIdle();
  }

  /**
   * Starts a run. With `replaces`, ends the client's run of that name first, in any state, once the new one is admitted; without a name, its only
   * run of the same program.
   *
   * @returns The name.
   * @throws ProcessError.
   */
  async start(
    { replace = false, ...request }: Omit<StartRequest, 'owner' | 'keeping'>,
    {
      name: label = '',
      restart = 'no',
      maxAgeMs,
      by = SELF,
      signal = NEVER,
    }: StartDetachedOptions = {},
  ): Promise<string> {
    const asker = this.#askerOf(by.client);
    const owner = assertMayOwn(request, asker);
    if (label !== '') assertLabel(label);
    const { path: program, args, envs, directory, sha1, sha256, limits } = request;
    const planned = newPlan(restart, {
      path: program,
      args: [...args],
      envs: [...envs],
      directory,
      sha1,
      sha256,
      limits: limits && { ...limits },
    });
    if (maxAgeMs !== undefined && !(Number.isSafeInteger(maxAgeMs) && maxAgeMs >= 0))
      throw refusal('invalidArgument', `its maxAgeMs is ${maxAgeMs}; wanted a whole number from 0`);
    if (maxAgeMs === 0 && planned.when !== 'never')
      throw refusal(
        'invalidArgument',
        'a run that is removed when it ends can have no restart policy',
      );
    const plan: RestartPlan = { ...planned, maxAgeMs };
    const starting = { signal, clientSays: by.clientSays };
    const earlier = this.#earlierRun(program, label, asker, replace);
    if (earlier !== undefined) {
      const ends = { reason: 'replaced', requester: by.requester } as const;
      await earlier.start({ ...starting, replaces: ends }, plan);
      return earlier.label;
    }
    const name = label === '' ? randomLabel() : label;
    const entry = this.#addUnbegun(name, owner, plan);
    try {
      await entry.start(starting, plan);
      return name;
    } catch (error) {
      if (!entry.isGone) await this.#forget(entry);
      throw error;
    }
  }

  /**
   * Starts a run that ends when its client leaves. A run in a keeper survives a replacement of the daemon, and waits for its client to reconnect.
   * A run without a keeper ends with the daemon. If a run has no keeper although its whitelist entry grants `detached`, `warning` tells why.
   *
   * @throws ProcessError.
   */
  async startWithLease(
    request: Omit<StartRequest, 'owner' | 'keeping'>,
    { owner, client }: { readonly owner: ProcessOwner; readonly client: ClientIdentity },
    { signal }: { readonly signal: AbortSignal },
  ): Promise<LeasedStart> {
    let warning: string | undefined;
    let run: RunLife | undefined;
    try {
      const { started, facts } = await this.#spawn(
        { ...request, owner },
        {
          lifetime: 'lease',
          signal,
          about: async ({ path: program, mark }, grant) => {
            try {
              const known = assertMayOwn(request, this.#askerOf(client));
              const about = {
                owner: known,
                path: program,
                plan: undefined,
                leaseMs: LEASE_MS,
              };
              run = RunLife.unbegun(this.#context, mark, mark, about);
              await this.#places.makeRoom(run, program, grant);
              await this.#keepers.own();
              const lease = { maxAgeMs: LEASE_MS, leaseMs: LEASE_MS };
              const { spoolBytes } = grant;
              return { run, chosen: { label: mark, owner: known, spoolBytes, ...lease } };
            } catch (error) {
              warning = `it ends with the daemon: ${messageOf(error).replace(REFUSED, '')}`;
              return undefined;
            }
          },
        },
      );
      if (facts === undefined) run?.claim?.release();
      else run?.follow(started, facts);
      return { run: started, leaseMs: facts?.leaseMs ?? 0, warning };
    } catch (error) {
      run?.claim?.release();
      throw error;
    }
  }

  /** Starts a run that was stopped, ended or given up; one that waits starts at once. Does nothing for a living run. @throws ProcessError. */
  startAgain(
    name: string,
    by: Requester = SELF,
    { signal = NEVER }: Abortable = {},
  ): Promise<DetachedRun> {
    const { clientSays } = by;
    return this.#control(name, by, (run) => run.startAgain({ signal, clientSays }));
  }

  /** Starts a run anew. A living attempt ends first, once the new one is admitted. @throws ProcessError. */
  restart(
    name: string,
    by: Requester = SELF,
    { signal = NEVER }: Abortable = {},
  ): Promise<DetachedRun> {
    const replaces = { reason: 'stopped', requester: by.requester } as const;
    const { clientSays } = by;
    return this.#control(name, by, (run) => run.start({ signal, clientSays, replaces }));
  }

  async #control(
    name: string,
    by: Requester,
    work: (run: RunLife) => Promise<void>,
  ): Promise<DetachedRun> {
    const entry = findRun(this.#entries.values(), name, this.#askerOf(by.client));
    assertAnswers(entry, 'start');
    await this.#audit('start', entry, by);
    await work(entry);
    return entry;
  }

  /**
   * Ends a run for good, in any state: nothing but a request starts it again.
   *
   * @returns How it ended; undefined if no run that the client sees has this name.
   * @throws ProcessError.
   */
  async stop(
    name: string,
    by: Requester = SELF,
    { force = false }: Pick<StopSelection, 'force'> = {},
  ): Promise<RunEnd | undefined> {
    const entry = findRunIfAny(this.#entries.values(), name, this.#askerOf(by.client));
    return entry && this.#stopFor(entry, by, force);
  }

  /**
   * Ends a run for good that is known by the name of its process.
   *
   * @returns Undefined if no run that the client sees has a process of this name.
   * @throws ProcessError `invalidArgument` if there are several.
   */
  async stopProcess(
    name: string,
    by: Requester,
    { force = false }: Pick<StopSelection, 'force'> = {},
  ): Promise<RunEnd | undefined> {
    const asker = this.#askerOf(by.client);
    const named = this.#seenBy(asker).filter(
      (entry) => entry.facts.run.name === name && lastEndOf(entry) === undefined,
    );
    const entry = theOnly(named, name, asker);
    return entry && this.#stopFor(entry, by, force);
  }

  async #stopFor(entry: RunLife, by: Requester, force: boolean): Promise<RunEnd> {
    await this.#audit('stop', entry, by);
    return entry.stop(by.requester, force);
  }

  /** The process manager itself records the stop of a living run. */
  async #audit(action: 'start' | 'stop', entry: RunLife, by: Requester): Promise<void> {
    if (action === 'stop' && entry.process !== undefined) return;
    const { mark, name, path } = entry.facts.run;
    const { description: client } = by.client;
    const about = { action, mark, name, path, runName: entry.label, requester: by.requester };
    await this.#options.onDecision?.({ ...about, verdict: 'allowed', client: { ...client } });
  }

  /** Adds the run to the list before its first attempt, so that its name is taken and it can be stopped. */
  #addUnbegun(label: string, owner: RunOwner, plan: RestartPlan): RunLife {
    const { path } = plan.request;
    const mark = randomBytes(16).toString('hex');
    const entry = RunLife.unbegun(this.#context, label, mark, { owner, path, plan });
    this.#entries.set(runKey(owner, label), entry);
    return entry;
  }

  /** Returns the run that a start replaces. @throws ProcessError if its name is taken. */
  #earlierRun(program: string, label: string, asker: Asker, replace: boolean): RunLife | undefined {
    const own = [...this.#entries.values()].filter(
      (entry) => !hasLease(entry) && !isKept(entry.label) && isOwnedBy(entry, asker),
    );
    if (label !== '') {
      const named = own.find((entry) => entry.label === label);
      if (named === undefined || replace) return named;
      const found = `there is a run named ${quoteText(label)}; remove it, replace it (--replace), or choose another name`;
      throw refusal('alreadyRunning', found);
    }
    if (!replace) return undefined;
    return theOnly(
      own.filter(({ plan }) => plan?.request.path === program),
      program,
      asker,
    );
  }

  #begin(program: WantedProgram): void {
    const atMs = this.#context.now();
    const plan: RestartPlan = { ...program.plan, next: { kind: 'again', atMs } };
    this.#addUnbegun(program.label, ownerFacts(HOST), plan).resume();
  }

  /** Starts a process in a keeper. @throws ProcessError. */
  async #spawn(
    request: Omit<StartRequest, 'keeping'>,
    { about, recorded, signal, ...keeping }: Spawning,
  ): ReturnType<LifeContext['spawn']> {
    let facts: DetachedRecord | undefined;
    const start: Keeping['start'] = async (command, run, grant) => {
      const known = await about(run, grant);
      if (known === undefined) return undefined;
      const whole = { version: 1, run, ...known.chosen } as const;
      const tree = await this.#keepers.start(command, whole, known.run.output);
      known.run.tree = tree;
      const { pid, startToken, startedAtMs, supervisor } = tree;
      facts = { ...whole, supervisor, pid, startToken, startedAtMs };
      try {
        await recorded?.(facts);
      } catch (error) {
        tree.end('hostFailed', true);
        throw error;
      }
      return tree;
    };
    this.#starts += 1;
    try {
      const started = await this.#manager.start(
        { ...request, keeping: { ...keeping, start } },
        { signal },
      );
      return { started, facts };
    } catch (error) {
      if (facts?.continues === undefined && facts !== undefined)
        await this.#folders.remove(facts.run.mark);
      throw error;
    } finally {
      this.#starts -= 1;
      this.#leaveIdle();
    }
  }

  all(): readonly DetachedRun[] {
    return [...this.#entries.values()];
  }

  /** Lists the runs that a client may see, without those with a lease. */
  list(client: ClientIdentity = HOST): readonly DetachedRun[] {
    return this.#seenBy(this.#askerOf(client));
  }

  #seenBy(asker: Asker): RunLife[] {
    return [...this.#entries.values()].filter(
      (entry) => !hasLease(entry) && isSeenBy(entry, asker),
    );
  }

  /** Returns the name of a run for a client that sees it. */
  nameFor(run: DetachedRun, client: ClientIdentity = HOST): string {
    return nameFor(run, this.#askerOf(client));
  }

  /** Returns the living process of a detached run that the client sees. */
  processNamed(name: string, client: ClientIdentity): ManagedProcess | undefined {
    return findRunIfAny(this.#entries.values(), name, this.#askerOf(client))?.process;
  }

  /** @throws ProcessError `notFound`, also for a run of another client. */
  find(label: string, client: ClientIdentity = HOST): DetachedRun {
    const asker = this.#askerOf(client);
    const held = this.#entries.get(markOf(label));
    // A run with a lease is found by its id, which only its holder knows.
    if (held !== undefined && hasLease(held) && isSeenBy(held, asker)) return held;
    return findRun(this.#entries.values(), label, asker);
  }

  /** A follower receives output until the final end of the run. @throws ProcessError `notFound` for a removed run. */
  read(
    run: DetachedRun,
    options: OutputReadOptions = {},
    search?: SpoolOptions['search'],
  ): SpoolReader {
    const entry = [...this.#entries.values()].find((each) => each === run);
    if (entry === undefined)
      throw new ProcessError('notFound', `cannot read ${quoteText(run.label)}: it was removed`);
    return entry.read(options, search);
  }

  /** Never rejects: output that cannot be read counts as none. */
  async inspect({ label, facts, end, plan }: DetachedRun): Promise<RunDetails> {
    const folder = folderNameOf(facts);
    const spool = new Spool(this.#folders.folderOf(folder));
    return {
      owner: isKept(label) ? undefined : ownerName(facts.owner),
      restart: plan === undefined ? 'no' : policyOf(plan),
      outputBytes: end?.outputBytes ?? (await spool.size().catch(() => 0)),
      keptBytes: await this.#folders.sizeOf(folder),
    };
  }

  /** Ends a run if it is alive, and removes its record. @throws ProcessError `notFound`, `stateUnavailable`, `auditUnavailable`. */
  async remove(name: string, by: Requester = SELF): Promise<RunEnd | undefined> {
    const entry = findRun(this.#entries.values(), name, this.#askerOf(by.client));
    await this.#audit('stop', entry, by);
    return entry.remove(by.requester);
  }

  /** True once followers receive no more output. */
  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** At a system shutdown, ends all runs, each with its grace period. Never rejects. */
  async endAll(): Promise<void> {
    this.#shutdown.abort();
    await this.#keepers.endAll(AbortSignal.timeout(GENTLE_MS));
  }

  /** Leaves living runs to their keepers. */
  async close(): Promise<void> {
    for (const entry of this.#entries.values()) if (hasLease(entry)) entry.tree?.leave();
    this.#closing.abort();
    clearInterval(this.#sweeping);
    await this.#programs.settled;
    await Promise.all([...this.#entries.values()].map(({ restarting }) => restarting));
    this.#keepers.close();
    if (this.#options.ownsManager === true) await this.#manager.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #askerOf(client: ClientIdentity): Asker {
    return { client, owner: ownerOf(client, this.#options.sessionStart) };
  }

  async #adoptRun(folder: string, hasKeeper: boolean): Promise<void> {
    const facts = await this.#folders.run(folder).read();
    if (facts === undefined || folderNameOf(facts) !== folder) {
      // The folder has no record, or a wrong one. If a keeper is alive, it may be starting the folder's run right now.
      if (!hasKeeper) await this.#folders.remove(folder);
      return;
    }
    const { owner, leaseMs } = facts;
    const { mark } = facts.run;
    // Two daemons with one state directory may have chosen the same label.
    const isTaken = this.#entries.has(runKey(owner, facts.label));
    const label = isTaken ? `${facts.label}-${mark.slice(0, 8)}` : facts.label;
    const plan = await planFile(this.#folders.folderOf(folder)).read();
    const known = { label, facts, plan: leaseMs === undefined ? plan : undefined };
    const entry = new RunLife(this.#context, known);
    this.#places.claim(entry, facts.spoolBytes);
    entry.end = await this.#folders.endOf(entry.facts);
    const keeper = this.#keepers.find(facts.supervisor);
    const isBusy = keeper === undefined && this.#host.isDaemonAlive(facts.supervisor);
    if (isBusy && entry.end === undefined) {
      this.#add(entry);
      this.#note('warn', 'a detached run waits for its keeper, which is busy', { mark, label });
    } else await entry.takeOver(keeper);
  }

  #add(entry: RunLife): void {
    const { owner } = entry.facts;
    this.#entries.set(hasLease(entry) ? entry.label : runKey(owner, entry.label), entry);
  }

  /** Disconnects from idle keepers. While a restart is planned, stays connected to this release's keeper. */
  #leaveIdle(): void {
    if (!this.#isAdopted || this.#starts > 0) return;
    const keepsOwn = [...this.#entries.values()].some(({ plan }) => plan?.next.kind === 'again');
    this.#keepers.leaveIdle({ keepsOwn });
  }

  /** Removes an ended run whose disk space another one needs. */
  #makesRoom(entry: RunLife): void {
    const { label: name, facts } = entry;
    const { mark, path } = facts.run;
    this.#note('info', 'an ended run made room for another', { mark, name, path });
    void this.#forgetSoon(entry);
  }

  async #forget(entry: RunLife): Promise<void> {
    for (const [key, each] of this.#entries) if (each === entry) this.#entries.delete(key);
    await entry.forget();
  }

  /** Never rejects. */
  #forgetSoon(entry: RunLife): Promise<void> {
    return this.#forget(entry).catch((error: unknown) => {
      this.#note('warn', 'cannot remove an old run', { problem: messageOf(error) });
    });
  }

  async #sweep(): Promise<void> {
    const { removeUnused } = this.#options.keepers;
    // Only if this release has no keeper. A keeper that is still starting does not hold its program open, and could lose it.
    if (!this.#keepers.hasOwn)
      await removeUnused?.(this.#options.stateDirectory).catch((error: unknown) => {
        const problem = messageOf(error);
        this.#note('warn', 'cannot remove the program of a keeper', { problem });
      });
    for (const entry of [...this.#entries.values()]) {
      if (lastEndOf(entry) === undefined || entry.isStarting || isKept(entry.label)) continue;
      const { maxAgeMs } = entry.facts;
      // The clients of a brief run that an earlier daemon started have this long to come back, and its readers may read on.
      const isDue =
        maxAgeMs === 0 ? entry.ageMs >= LEASE_MS && !entry.isRead : entry.ageMs >= maxAgeMs;
      if (isDue) await this.#forgetSoon(entry);
    }
  }

  #note(...[level, text, facts]: Parameters<Note>): void {
    this.#report({ type: 'noted', level, text, facts });
  }
}

/** Returns the owner of a run that a client starts. @throws ProcessError. */
function assertMayOwn(
  { exposes = [], files = [] }: Pick<StartRequest, 'exposes' | 'files'>,
  { owner }: Asker,
): RunOwner {
  if ('refused' in owner) throw refusal('callerNotAllowed', owner.refused);
  if (exposes.length > 0)
    throw refusal(
      'invalidArgument',
      'its ports cannot be exposed, because they close with the daemon',
    );
  if (files.length > 0)
    throw refusal('invalidArgument', 'its files could not be updated, because no client holds it');
  return owner;
}

function randomLabel(): string {
  return `run-${randomBytes(4).toString('hex')}`;
}

function refusal(code: ConstructorParameters<typeof ProcessError>[0], found: string): ProcessError {
  return new ProcessError(code, `cannot start a detached run: ${found}`);
}
