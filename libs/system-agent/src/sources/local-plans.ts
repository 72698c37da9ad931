import { posixFileTrust, readBytes, TrustedFileError } from '@wins/trusted-files';
import { messageOf, type Complete } from '@wins/base';
import type { Applier, FailedInstruction, PassResult } from '../apply/pass.js';
import { Warnings, warnOfKeys } from '../apply/warnings.js';
import type { AgentOptions, PlanStatus } from '../system-agent.js';
import { findLocalPlans } from './find-local-plans.js';
import type { SourceState } from '../agent-event.js';
import { unixDate } from '../apply/unix-date.js';
import { parsePlan, type ParsedPlan } from '../plan/parse-plan.js';
import {
  fittingOutputs,
  NO_POSITION,
  parsePosition,
  positionText,
  type Position,
} from './position-file.js';

/** Interval between checks of local plans. */
export const LOCAL_PERIOD_MS = 5000;

const MAX_PLAN_BYTES = 1024 * 1024;
const MAX_POSITION_BYTES = 32 * 1024 * 1024;

export interface LocalPlanSteps extends Complete<
  Pick<AgentOptions, 'clock' | 'files' | 'trust' | 'onEvent'>
> {
  readonly applier: Applier;
  readonly warnings: Warnings;
  readonly onStatus: () => void;
}

export class LocalPlan {
  readonly #file: string;
  readonly #positionFile: string;
  readonly #steps: LocalPlanSteps;
  status: PlanStatus;
  /** Unwritten text of the `.pos` file. Without it, a full disk would cause the plan to be applied again. */
  #unwritten: string | undefined;
  #failed: { readonly checksum: string; readonly failure?: FailedInstruction } | undefined;
  #lastApplyTime: string | undefined;
  #parsed: { readonly text: Buffer; readonly plan: ParsedPlan } | undefined;

  constructor(file: string, steps: LocalPlanSteps) {
    this.#file = file;
    this.#positionFile = `${file.slice(0, -'.plan'.length)}.pos`;
    this.#steps = steps;
    const unknown = { failures: 0, periodic: {}, probes: {} };
    this.status = { source: file, state: { kind: 'starting' }, ...unknown };
  }

  /**
   * Applies the plan if the checksum in the `.pos` file differs, and runs other due work. If it cannot apply the plan,
   * reports the failure; the next call tries again. A plan whose instruction failed counts as applied, and is not repeated.
   * @throws AgentError `closed`.
   */
  async look(signal: AbortSignal): Promise<void> {
    const { clock, trust, warnings } = this.#steps;
    try {
      // `findLocalPlans` ensures that links stay within the folder.
      const options = { trust, followLinks: true, maxBytes: MAX_PLAN_BYTES };
      const text = await readBytes(this.#file, options);
      if (this.#parsed?.text.equals(text) !== true) this.#parsed = { text, plan: parsePlan(text) };
      const parsed = this.#parsed.plan;
      warnOfKeys(warnings, this.#file, parsed);
      await this.#apply(parsed, signal);
      warnings.tell(this.#file, 'plan', undefined);
    } catch (error) {
      if (signal.aborted) throw error;
      // The plan was removed after the search.
      if (error instanceof TrustedFileError && error.code === 'notFound') return;
      const message = `the local plan is not applied: ${messageOf(error)}`;
      warnings.tell(this.#file, 'plan', message, error);
      const retryAt = new Date(clock.now().getTime() + LOCAL_PERIOD_MS);
      const cause = error instanceof Error ? error : new Error(String(error));
      this.#update({ state: { kind: 'invalid', error: cause, retryAt } });
    }
  }

  async #apply({ plan, checksum }: ParsedPlan, signal: AbortSignal): Promise<void> {
    const { applier, clock, warnings } = this.#steps;
    const { position, text } = await this.#readPosition();
    const startedAt = clock.now();
    const isDue = position.appliedChecksum !== checksum;
    const { outputs, periodic, probes, appliedChecksum } = position;
    const known = { plan, checksum, periodic, probes, appliedChecksum };
    if (isDue) {
      this.#lastApplyTime = unixDate(startedAt);
      this.#update({ ...known, state: { kind: 'applying', checksum, attempt: 0 } });
    }
    const result = await applier.apply(
      {
        source: this.#file,
        plan,
        checksum,
        outputs,
        periodic,
        probes,
        startedAt,
        ...(isDue ? { oneTime: { attempt: 0 } } : {}),
      },
      { signal },
    );
    const { succeeded, failure } = result;
    if (isDue) this.#failed = succeeded ? undefined : { checksum, ...(failure && { failure }) };
    const names = plan.instructions.map(({ name = '' }) => name);
    const saved = fittingOutputs(result.outputs, names);
    const tooLarge = 'the saved outputs are too large: some are omitted';
    warnings.tell(this.#file, 'outputs', saved === result.outputs ? undefined : tooLarge);
    await this.#save({ ...pick(result), outputs: saved, appliedChecksum: checksum }, text);
    const state = this.#stateAfter(checksum);
    this.#update({ ...known, ...pick(result), appliedChecksum: checksum, state });
  }

  #stateAfter(checksum: string): SourceState {
    if (this.#failed?.checksum === checksum)
      return { kind: 'failed', failures: 1, ...this.#failed };
    const nextPassAt = new Date(this.#steps.clock.now().getTime() + LOCAL_PERIOD_MS);
    return { kind: 'applied', checksum, nextPassAt };
  }

  async #readPosition(): Promise<{ position: Position; text: string }> {
    const { trust, warnings } = this.#steps;
    let text = '';
    let position = NO_POSITION;
    try {
      const options = { trust, followLinks: true, maxBytes: MAX_POSITION_BYTES };
      text = (await readBytes(this.#positionFile, options)).toString();
      position = parsePosition(text);
      warnings.tell(this.#file, 'state', undefined);
    } catch (error) {
      const code = error instanceof TrustedFileError ? error.code : undefined;
      // Fail. Otherwise, anyone who can write the file could decide whether the plan is applied.
      if (code === 'notTrusted') throw error;
      if (code !== 'notFound')
        warnings.tell(this.#file, 'state', `the plan is applied again: ${messageOf(error)}`, error);
    }
    if (this.#unwritten !== undefined) position = parsePosition(this.#unwritten);
    return { position, text };
  }

  async #save(position: Position, onDisk: string): Promise<void> {
    const { files, warnings } = this.#steps;
    const text = positionText(position);
    try {
      if (text !== onDisk) await files.writePrivateFile(this.#positionFile, Buffer.from(text));
      this.#unwritten = undefined;
      warnings.tell(this.#file, 'saving', undefined);
    } catch (error) {
      this.#unwritten = text;
      const message = 'the result of the local plan is not saved yet';
      warnings.tell(this.#file, 'saving', message, error);
    }
  }

  #update(changes: Partial<PlanStatus> & Pick<PlanStatus, 'state'>): void {
    const { onEvent, onStatus } = this.#steps;
    const isNews = gist(changes.state) !== gist(this.status.state);
    const failedChecksum = this.#failed?.checksum;
    const lastApplyTime = this.#lastApplyTime;
    const { failedChecksum: _failedBefore, ...before } = this.status;
    this.status = {
      ...before,
      ...changes,
      failures: failedChecksum === undefined ? 0 : 1,
      ...(failedChecksum === undefined ? {} : { failedChecksum }),
      ...(lastApplyTime === undefined ? {} : { lastApplyTime }),
    };
    if (isNews) onEvent({ kind: 'stateChanged', source: this.#file, state: changes.state });
    onStatus();
  }
}

const pick = ({ periodic, probes }: PassResult) => ({ periodic, probes });

/** Omits times, which differ at each check. */
function gist(state: SourceState): string {
  const { nextPassAt: _next, retryAt: _retry, ...rest } = { nextPassAt: 0, retryAt: 0, ...state };
  return JSON.stringify({ ...rest, error: 'error' in state ? messageOf(state.error) : '' });
}

/** `files` writes the `.pos` files. */
export interface LocalPlansOptions extends Pick<
  AgentOptions,
  'clock' | 'files' | 'trust' | 'onEvent'
> {
  /** The folder may be missing at times. */
  readonly directory: string;
  readonly applier: Applier;
  /** Receives the status of every plan, in path order, at least whenever one changes. */
  readonly onStatus: (plans: readonly PlanStatus[]) => void;
}

/**
 * Every 5 s, applies a folder's changed plans in the order of their paths, and stores each result in a `.pos` file. Reports
 * and retries failures. Resolves after the signal aborted.
 */
export async function followLocalPlans(
  { directory, trust = posixFileTrust(), onStatus, onEvent, ...steps }: LocalPlansOptions,
  signal: AbortSignal,
): Promise<void> {
  const warnings = new Warnings(onEvent);
  let plans: ReadonlyMap<string, LocalPlan> = new Map();
  const tellStatus = (): void => onStatus([...plans.values()].map(({ status }) => status));
  const make = (file: string): LocalPlan =>
    new LocalPlan(file, { ...steps, trust, warnings, onEvent, onStatus: tellStatus });

  const look = async (): Promise<void> => {
    const { plans: found, faults } = await findLocalPlans(directory);
    const [fault] = faults;
    const message = `part of the folder of local plans is skipped: found ${fault ?? ''}`;
    warnings.tell(directory, 'walk', fault && message);
    const before = plans;
    plans = new Map(found.map((file) => [file, before.get(file) ?? make(file)]));
    if (before.size > 0 || plans.size > 0) tellStatus();
    for (const plan of plans.values()) await plan.look(signal);
  };

  const lookAndWait = async (): Promise<void> => {
    try {
      await look();
      warnings.tell(directory, 'folder', undefined);
    } catch (error) {
      if (signal.aborted) return;
      const message = `cannot look for local plans: ${messageOf(error)}`;
      warnings.tell(directory, 'folder', message, error);
    }
    await steps.clock.wait(LOCAL_PERIOD_MS, { signal }).catch(() => undefined);
  };
  while (!signal.aborted) await lookAndWait();
}
