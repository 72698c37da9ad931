import type { ConfigOrigin, LoadedConfig } from '@wins/config';
import type { StartVerdict } from '@wins/process-manager';
import { judgeDestination } from '@wins/tcp-tunnel';

export interface DecidingEntry {
  /** Key path; empty when no entry names the subject. */
  readonly key: string;
  readonly file: string;
  /** Both from 1; absent when it is not at a place in the file. */
  readonly line?: number;
  readonly column?: number;
}

export interface SubjectVerdict {
  readonly allowed: boolean;
  /** Code with which the attempt would be refused; empty when it is allowed. */
  readonly code: string;
  /** The same as a sentence; with a verdict that is not final, what else decides. */
  readonly reason: string;
  readonly entry: DecidingEntry;
}

/** The verdict about a start in words, with the entry that decided. Pure. */
export function programVerdict(
  { refusal, entryIndex, isPinned }: StartVerdict,
  hasDigest: boolean,
  loaded: LoadedConfig,
): SubjectVerdict {
  const key = `white_list.processPaths[${entryIndex}]`;
  const entry = entryAt(loaded, (origin) => origin.key === key);
  if (refusal !== undefined)
    return { allowed: false, code: refusal.code, reason: refusal.message, entry };
  const reason =
    isPinned && !hasDigest
      ? 'its entry pins digests: with a digest the content is judged, too'
      : '';
  return { allowed: true, code: '', reason, entry };
}

/** Whether a port of the host may be reached, by the function that judges what clients of the tunnel ask for. Pure. */
export function portVerdict(port: number, loaded: LoadedConfig): SubjectVerdict {
  const { proxyPorts } = loaded.config.whiteList;
  const verdict = judgeDestination(`tcp/localhost:${port}`, new Set(proxyPorts));
  const entry = entryAt(
    loaded,
    ({ key, value }) => key.startsWith('white_list.proxyPorts[') && value === port,
  );
  if (verdict.allowed) return { allowed: true, code: '', reason: '', entry };
  const found = verdict.rule === 'port-allowed' ? 'not listed' : 'no port';
  const wanted = verdict.rule === 'port-allowed' ? 'a listed one' : '1 to 65535';
  const reason = `cannot reach port ${port}: found it ${found}; wanted ${wanted}`;
  return { allowed: false, code: verdict.rule, reason, entry };
}

function entryAt(
  { origins, path: file }: LoadedConfig,
  isMeant: (origin: ConfigOrigin) => boolean,
): DecidingEntry {
  const found = origins.find(isMeant);
  if (found === undefined) return { key: '', file };
  return { key: found.key, file, ...(found.origin !== 'default' && found.origin) };
}
