import { CsiProxyError } from '../csi-proxy-error.js';
import { messageOf } from '@wins/base';
import { isFeatureError } from '../../../kernel/feature-error.js';
import type { KeeperOptions } from '../csi-proxy-port.js';
import { recorded } from '../decide/decide.js';
import type { InstallRecord, ServiceCommand } from '../decide/install-record.js';
import type { RecordFile } from './record-file.js';
import { seenProgram } from './remove-programs.js';

const GRACE_MS = 5_000;
const PROVE_MS = 30_000;
/** A pipe that exists this long after the end of csi-proxy belongs to another process. */
const FREE_MS = 5_000;
const LOOK_EVERY_MS = 250;

/** @param signal - Aborts the wait for a pipe; the next daemon then finishes the change. */
export function serviceChange(
  { service, clock, onState, goProgram, graceMs = GRACE_MS }: KeeperOptions,
  records: RecordFile,
  signal: AbortSignal,
) {
  const isProven = async (): Promise<boolean> => {
    const endMs = clock.now().getTime() + PROVE_MS;
    for (;;) {
      if ((await service.isServing()) && (await service.query())?.isRunning === true) return true;
      if (clock.now().getTime() >= endMs) return false;
      await clock.wait(LOOK_EVERY_MS, signal);
    }
  };
  const stopAll = async (commands: readonly (ServiceCommand | undefined)[]): Promise<void> => {
    if ((await service.query()) !== undefined) await service.stop(graceMs);
    for (const program of new Set(commands.map((command) => command?.program)))
      if (program !== undefined) await service.endLeftovers(program);
    const endMs = clock.now().getTime() + FREE_MS;
    while (await service.isServing()) {
      if (clock.now().getTime() >= endMs) {
        const found = 'another process serves its pipe';
        const message = `cannot start the service ${service.name}: ${found}. Find out who runs csi-proxy.exe`;
        throw new CsiProxyError('serviceFailed', message);
      }
      await clock.wait(LOOK_EVERY_MS);
    }
  };
  const setCommand = async (command: ServiceCommand): Promise<void> => {
    if ((await service.query()) === undefined) await service.create(command);
    else await service.setCommand(command);
  };
  const startAndProve = async (version: string): Promise<void> => {
    await service.start();
    onState({ kind: 'installed', version });
    if (await isProven()) return;
    const message = `the service ${service.name} did not serve its pipe csi-proxy-filesystem-v1 within ${PROVE_MS / 1000} s. See csi-proxy.log`;
    throw new CsiProxyError('notServing', message);
  };
  const remove = async (command: ServiceCommand | undefined): Promise<void> => {
    await service.stop(graceMs);
    if (command !== undefined) await service.endLeftovers(command.program);
    await service.remove();
  };
  const putBack = async (
    from: ServiceCommand | undefined,
    to: ServiceCommand,
    version: string,
  ): Promise<{ readonly isDone: boolean; readonly text: string }> => {
    try {
      if (from === undefined) {
        await remove(to);
        return { isDone: true, text: 'the new service was removed again' };
      }
      await setCommand(from);
      await stopAll([to]);
      await startAndProve(version);
      return { isDone: true, text: 'the previous release was restored and serves' };
    } catch (error) {
      // The caller reports why the change failed, and keeps the trial in the record for the next attempt.
      return {
        isDone: false,
        text: `the previous state could not be restored: ${messageOf(error)}`,
      };
    }
  };
  return {
    /**
     * Records the change, ends the service's processes, changes the command durably, and waits for the pipe. On failure, restores `from`, or
     * removes the service if there is no `from`.
     * @throws FeatureError `notServing` or `serviceFailed` with the outcome of the rollback; `fileFailed`; the signal's reason.
     */
    switch: async (
      { to, from }: { readonly to: ServiceCommand; readonly from?: ServiceCommand },
      record: InstallRecord,
      version: string,
    ): Promise<void> => {
      const isTakenOver = from !== undefined && from.program === goProgram;
      const obsolete = isTakenOver
        ? // A program that cannot be read is not recorded, and so never removed.
          await seenProgram(from.program).catch(() => undefined)
        : record.obsolete;
      const trial: InstallRecord = {
        ...record,
        trial: { to, ...(from && { from }) },
        ...(obsolete && { obsolete }),
      };
      await records.write(trial);
      try {
        await stopAll([to, from]);
        await setCommand(to);
        await startAndProve(version);
      } catch (error) {
        if (signal.aborted) throw error;
        const back = await putBack(from, to, version);
        const { trial: _trial, ...before } = record;
        if (back.isDone) await records.write(before);
        const code = isFeatureError(error) ? error.code : 'serviceFailed';
        throw new CsiProxyError(code, `${messageOf(error)}; ${back.text}`, { cause: error });
      }
      // If this write fails, the trial stays in the record and the next pass finds it proven.
      await records.write(recorded(trial, to));
    },
    /** Starts the service and waits for its pipe. A running process that does not open the pipe in time is stopped first. @throws as `switch`. */
    start: async (command: ServiceCommand, isRunning: boolean, version: string): Promise<void> => {
      if (isRunning) {
        // The process may have just started.
        onState({ kind: 'installed', version });
        if (await isProven()) return;
      }
      await stopAll([command]);
      await startAndProve(version);
    },
    /** @throws FeatureError `serviceFailed`. */
    remove,
  };
}
