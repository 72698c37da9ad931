import { CsiProxyError } from '../csi-proxy-error.js';
import { messageOf, toldAddress } from '@wins/base';
import { existsSync } from 'node:fs';
import type { Decision } from '../../../kernel/audit/decision.js';
import type { KeeperOptions } from '../csi-proxy-port.js';
import { fetched, recorded, tidied, type CsiProxyFacts, type Step } from '../decide/decide.js';
import type { InstallRecord } from '../decide/install-record.js';
import type { DesiredCsiProxy } from '../settings/judge-settings.js';
import { FETCH, REMOVE, START, SWITCH, TIDY } from '../actions.js';
import { serviceChange } from './change-service.js';
import { withFile } from './failures.js';
import { fetchRelease } from './fetch-release.js';
import type { RecordFile } from './record-file.js';
import { removePrograms, seenProgram } from './remove-programs.js';

const MZ = Uint8Array.of(0x4d, 0x5a);

type StepTo<Action extends Step['action']> = Extract<Step, { readonly action: Action }>;

export function stepWork(options: KeeperOptions, records: RecordFile, closing: AbortSignal) {
  const { trust, programMagic = MZ, onState, service: manager } = options;
  const change = serviceChange(options, records, closing);

  /** Records an action before it starts. If the record fails, the action must not start. */
  const recordAction = async (
    action: Pick<Decision, 'action' | 'recording'>,
    facts: Pick<Decision, 'path' | 'name' | 'address'> = {},
  ): Promise<void> => {
    await options.onDecision({ ...action, verdict: 'allowed', requester: 'config', ...facts });
  };
  const removeAll = async (programs: readonly string[], record: InstallRecord) => {
    const removed = await removePrograms(programs, record, closing);
    removed.problems.forEach(options.onWarning);
    return removed;
  };
  const downloadFor = async ({ trust: tls, url }: DesiredCsiProxy) => {
    try {
      return await options.downloadFor(tls);
    } catch (cause) {
      const message = `cannot fetch ${toldAddress(url)}: ${messageOf(cause)}`;
      throw new CsiProxyError('downloadFailed', message, { cause });
    }
  };
  const fetch = async (
    { version, sha256 }: StepTo<'fetch'>,
    desired: DesiredCsiProxy,
    { record, service }: CsiProxyFacts,
    download: AbortSignal,
  ): Promise<void> => {
    const known = sha256 !== undefined && { checksum: sha256 };
    await recordAction(FETCH, {
      name: version,
      address: toldAddress(desired.url),
      ...known,
    });
    onState({ kind: 'fetching', version });
    const release = await fetchRelease(desired, sha256, {
      programMagic,
      trust,
      download: await downloadFor(desired),
      beforeReplacing: async (program) => {
        if (service?.command?.program === program && existsSync(program)) await manager.stop(0);
      },
      signal: download,
    });
    await records.write(fetched(record, release));
    onState({ kind: 'verified', version });
  };
  const remove = async (
    { service: isOurs }: StepTo<'remove'>,
    { record: before, service, goProgram }: CsiProxyFacts,
  ): Promise<void> => {
    await recordAction(REMOVE);
    const { obsolete: known, ...others } = before;
    const isOfGo = goProgram !== undefined && service?.command?.program === goProgram;
    let obsolete = known;
    if (isOfGo)
      // If the service stays, keep the Go release's program, because the service runs it.
      obsolete = isOurs
        ? await withFile('read', goProgram, () => seenProgram(goProgram))
        : undefined;
    const record = { ...others, ...(obsolete && { obsolete }) };
    // Write the record first: after the service is removed, nothing else names the program.
    if (obsolete !== known) await records.write(record);
    if (isOurs) await change.remove(service?.command);
    const programs = record.releases.map(({ program }) => program);
    if (obsolete !== undefined) programs.push(obsolete.path);
    const { done, problems } = await removeAll(programs, record);
    const { installed: _gone, trial: _over, ...left } = tidied(record, done);
    await records.write({ ...left, pins: {} });
    if (done.length < programs.length) throw new CsiProxyError('fileFailed', problems.join('; '));
  };

  /** Executes a step. Resolves with true if the pass ends with this step. */
  return async (
    step: Step,
    facts: CsiProxyFacts,
    desired: DesiredCsiProxy | undefined,
    download: AbortSignal,
  ): Promise<boolean> => {
    const { record, service } = facts;
    const version = desired?.version ?? '';
    switch (step.action) {
      case 'rest':
      case 'leave': {
        const isWhole = facts.isServing && service?.isRunning === true;
        const isKept = desired !== undefined || step.action === 'leave';
        onState({ kind: isWhole && isKept ? 'serving' : 'absent', detail: step.reason });
        return true;
      }
      case 'fetch':
        if (desired !== undefined) await fetch(step, desired, facts, download);
        return false;
      case 'switch':
        await recordAction(SWITCH, { path: step.to.program });
        onState({ kind: 'verified', version });
        await change.switch(step, record, version);
        onState({ kind: 'serving', detail: `${version} serves` });
        return false;
      case 'start':
        await recordAction(START, { path: step.command.program });
        onState({ kind: 'verified', version });
        await change.start(step.command, service?.isRunning === true, version);
        onState({ kind: 'serving', detail: `${version} serves` });
        return false;
      case 'record':
        await records.write(recorded(record, step.installed));
        return false;
      case 'tidy': {
        await recordAction(TIDY);
        const { done } = await removeAll(step.programs, record);
        await records.write(tidied(record, done));
        return done.length < step.programs.length;
      }
      case 'remove':
        await remove(step, facts);
        return false;
    }
  };
}
