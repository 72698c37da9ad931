import { parseSecurityDescriptor } from '@wins/wins-program';
import type { ProcessAccount } from '../access/process-account.js';
import { PRIVILEGED, whoMay } from '../access/who-may-write.js';

/** What a client can find out about who serves a pipe, through its own end and before it sends anything. */
export interface PipeServerEvidence {
  /** The process that made our instance of the pipe. */
  readonly serverPid: number;
  /** The process of the registered service; `undefined` when there is none, or none is running. */
  readonly servicePid: number | undefined;
  /** In whose name the server runs; `undefined` when it cannot be looked at, as from within a container. */
  readonly account: ProcessAccount | undefined;
  /** The owner and the access list of the pipe. */
  readonly sddl: string;
}

/** Whether to speak to it, and why. */
export interface PipeServerVerdict {
  readonly isTrusted: boolean;
  /** For people: what was found. */
  readonly reason: string;
}

/** FILE_CREATE_PIPE_INSTANCE, WRITE_DAC, WRITE_OWNER: to serve the pipe, or to give oneself the right to. */
const SERVE = 0x4 | 0x4_0000 | 0x8_0000;

/**
 * Whether the server of a pipe is the service, or someone who could replace the service anyhow. Pure; whatever is missing or does
 * not fit speaks against it.
 *
 * Two things are wanted, for each alone can be forged or mistaken. The pipe must belong to SYSTEM, to Administrators, or to the
 * account of a privileged server: only a privileged process can make one that does, while the number of a process that has
 * ended may come back as another's. And its server must be the service, or privileged; or, where its process cannot be
 * looked at, as from within a container, no one without privileges may have a right to serve the pipe.
 */
export function judgePipeServer(evidence: PipeServerEvidence): PipeServerVerdict {
  const { serverPid, servicePid, account, sddl } = evidence;
  const { owner } = parseSecurityDescriptor(sddl);
  const refuse = (reason: string): PipeServerVerdict => ({ isTrusted: false, reason });
  const trust = (reason: string): PipeServerVerdict => ({ isTrusted: true, reason });
  const who = `process ${serverPid}`;
  const isOwnedByPrivileged =
    owner !== undefined &&
    (PRIVILEGED.includes(owner) || (account?.isPrivileged === true && account.user === owner));
  if (!isOwnedByPrivileged)
    return refuse(`the pipe belongs to ${owner ?? 'an unknown account'}, and ${who} serves it`);
  if (serverPid !== 0 && serverPid === servicePid) return trust(`${who} is the service`);
  if (account?.isPrivileged === true) return trust(`${who} runs with privileges`);
  if (account !== undefined)
    return refuse(`${who} serves the pipe as ${account.user}, without privileges`);
  const others = whoMay(sddl, SERVE);
  return others.length === 0
    ? trust(`${who} cannot be looked at, and only SYSTEM and Administrators may serve the pipe`)
    : refuse(`${who} cannot be looked at, and the pipe may be served by ${others.join(', ')}`);
}
