import type { ConfigEntry } from '@wins/wins-api';
import type { ConfigOrigin, LoadedConfig } from '@wins/config';
import type { StartVerdict } from '@wins/process-manager';
import { judgeDestination } from '@wins/tcp-tunnel';

export interface SubjectVerdict {
  readonly allowed: boolean;
  /** Error code of a refusal, else empty. */
  readonly code: string;
  /** Cause of a refusal, or the input still missing for a final verdict; else empty. */
  readonly reason: string;
  readonly entry: ConfigEntry;
}

export interface PortVerdict extends SubjectVerdict {
  readonly udp: SubjectVerdict;
}

export interface ExplainedRelay {
  readonly relay: string;
  readonly entry: ConfigEntry;
}

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
    isPinned && !hasDigest ? 'its entry pins digests: pass a digest to check the content, too' : '';
  return { allowed: true, code: '', reason, entry };
}

export function portVerdict(port: number, loaded: LoadedConfig): PortVerdict {
  return { ...verdictOf('tcp', port, loaded), udp: verdictOf('udp', port, loaded) };
}

function verdictOf(protocol: 'tcp' | 'udp', port: number, loaded: LoadedConfig): SubjectVerdict {
  const { proxyPorts, proxyUdpPorts } = loaded.config.whiteList;
  const [tcp, udp] = [new Set(proxyPorts), new Set(proxyUdpPorts)];
  const verdict = judgeDestination(`${protocol}/localhost:${port}`, tcp, udp);
  const list = `white_list.${protocol === 'tcp' ? 'proxyPorts' : 'proxyUdpPorts'}[`;
  const entry = entryAt(loaded, ({ key, value }) => key.startsWith(list) && value === port);
  if (verdict.allowed) return { allowed: true, code: '', reason: '', entry };
  const found = verdict.rule === 'port-not-listed' ? 'not listed' : 'not a port';
  const wanted = verdict.rule === 'port-not-listed' ? 'a listed one' : '1 to 65535';
  const what = protocol === 'tcp' ? 'port' : 'UDP port';
  const reason = `cannot reach ${what} ${port}: it is ${found}; wanted ${wanted}`;
  return { allowed: false, code: verdict.rule, reason, entry };
}

/** Returns the configured relays of a port, but not their state. */
export function relaysOf(port: number, loaded: LoadedConfig): readonly ExplainedRelay[] {
  const { ports = [] } = loaded.config.hostNetwork ?? {};
  return ports.flatMap(({ proto, listen, to }, index) => {
    if (!listen.endsWith(`:${port}`)) return [];
    const key = `hostNetwork.ports[${index}]`;
    const entry = entryAt(loaded, (origin) => origin.key === `${key}.listen`);
    return [{ relay: `${proto} ${listen} to ${to}`, entry: { ...entry, key } }];
  });
}

function entryAt(
  { origins, path: file }: LoadedConfig,
  isMeant: (origin: ConfigOrigin) => boolean,
): ConfigEntry {
  const found = origins.find(isMeant);
  if (found === undefined) return { key: '', file };
  return { key: found.key, file, ...(found.origin !== 'default' && found.origin) };
}
