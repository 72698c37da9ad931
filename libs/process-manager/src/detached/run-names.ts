/** Names of detached runs. A name belongs to its owner, so two clients may use the same name and learn nothing of each other. */
import { quoteText, UNIDENTIFIED, type ClientIdentity } from '@wins/base';
import { createHash } from 'node:crypto';
import { ProcessError } from '../process-error.js';
import { hasLease, isKept, type DetachedRun } from './detached-run.js';
import type { RunOwner } from '../supervision/run-record.js';

/** The program itself, which owns the programs that it keeps. No client has its key. */
export const HOST: ClientIdentity = {
  key: 'host',
  isAdministrator: true,
  isEverybody: false,
  description: {},
  names: ['administrators'],
};

const LABEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
/** Digits of a container's id, as Docker prints it. */
const SHORT_ID = 12;

/** @throws ProcessError `invalidArgument`. */
export function assertLabel(label: string): void {
  if (LABEL.test(label)) return;
  const found = 'its name is not valid; wanted 1 to 63 letters, digits, ".", "_" and "-"';
  throw new ProcessError('invalidArgument', `cannot start a detached run: ${found}`);
}

/** Returns the owner's part of the name that administrators use: a container's short id, `uid-N`, or a digest. */
export function ownerName({ key, since, description: { container, uid } }: RunOwner): string {
  if (typeof container === 'string' && /^[0-9a-f]{64}$/.test(container))
    return container.slice(0, SHORT_ID);
  if (key === `uid:${uid}`) return `uid-${uid}`;
  return createHash('sha256')
    .update(JSON.stringify([key, since]))
    .digest('hex')
    .slice(0, SHORT_ID);
}

/** Key of a run among all runs of the daemon. */
export function runKey({ key, since }: Pick<RunOwner, 'key' | 'since'>, label: string): string {
  return JSON.stringify([key, since ?? '', label]);
}

export function ownerFacts(client: ClientIdentity): RunOwner {
  const { key, isAdministrator, isEverybody, description, names } = client;
  return { key, isAdministrator, isEverybody, description: { ...description }, names: [...names] };
}

/** A client, and the owner that its runs have; `owner` tells why it can have none. */
export interface Asker {
  readonly client: ClientIdentity;
  readonly owner: RunOwner | { readonly refused: string };
}

/** @param sessionStart - Start time of a Windows session, whose number the system gives again. */
export function ownerOf(
  client: ClientIdentity,
  sessionStart: ((session: number) => string | undefined) | undefined,
): Asker['owner'] {
  const unknown = { refused: 'the system cannot identify the client' };
  if (client.isEverybody || client.key === UNIDENTIFIED) return unknown;
  if (client === HOST) return ownerFacts(client);
  const { container, session } = client.description;
  if (typeof container === 'string' && container.startsWith('mounts:'))
    return {
      refused:
        'the system tells its container only by the number of a mount namespace, which a later container may get. ' +
        'Start it from the host, or from a container of a runtime with 64-digit ids',
    };
  // Session 0 contains the host's own services.
  if (sessionStart === undefined || session === 0)
    return client.names.length === 0 ? unknown : ownerFacts(client);
  const since = typeof session === 'number' ? sessionStart(session) : undefined;
  return since === undefined ? unknown : { ...ownerFacts(client), since };
}

export function isOwnedBy({ facts: { owner } }: DetachedRun, asker: Asker): boolean {
  if ('refused' in asker.owner) return false;
  return owner.key === asker.owner.key && owner.since === asker.owner.since;
}

/** Programs of `keep` belong to the operator: only administrators see them. */
export function isSeenBy(run: DetachedRun, asker: Asker): boolean {
  return asker.client.isAdministrator || isOwnedBy(run, asker);
}

/** Returns the name of a run for a client that sees it: another owner's run has the owner before it. */
export function nameFor(run: DetachedRun, asker: Asker): string {
  if (isKept(run.label) || isOwnedBy(run, asker)) return run.label;
  return fullName(run);
}

export function fullName({ label, facts: { owner } }: DetachedRun): string {
  return isKept(label) ? label : `${ownerName(owner)}/${label}`;
}

/** @throws ProcessError `notFound`, also for a run of another client; `invalidArgument` if an administrator's name fits several runs. */
export function findRun<Run extends DetachedRun>(
  entries: Iterable<Run>,
  name: string,
  asker: Asker,
): Run {
  const found = findRunIfAny(entries, name, asker);
  if (found !== undefined) return found;
  const message = `cannot find ${quoteText(name)}: no detached run of this client has that name; "wins cli prc ls --detached" lists them`;
  throw new ProcessError('notFound', message);
}

/** @throws ProcessError `invalidArgument` if an administrator's name fits several runs. */
export function findRunIfAny<Run extends DetachedRun>(
  entries: Iterable<Run>,
  name: string,
  asker: Asker,
): Run | undefined {
  const seen = [...entries].filter((entry) => !hasLease(entry) && isSeenBy(entry, asker));
  const exact = seen.find((entry) => nameFor(entry, asker) === name);
  if (exact !== undefined) return exact;
  return theOnly(
    seen.filter((entry) => entry.label === name || fullName(entry) === name),
    name,
    asker,
  );
}

/** @throws ProcessError `invalidArgument` if there are several. */
export function theOnly<Run extends DetachedRun>(
  entries: readonly Run[],
  name: string,
  asker: Asker,
): Run | undefined {
  if (entries.length < 2) return entries[0];
  const names = entries.map((entry) => nameFor(entry, asker)).join(', ');
  const message = `${quoteText(name)} fits ${entries.length} detached runs: name one of ${names}`;
  throw new ProcessError('invalidArgument', message);
}
