import type { TreeLimits } from '@wins/base';
import type { RunFile, StartRequest } from '@wins/process-manager';
import { RunExposeProtocol, type RunFile as FileMessage } from '@wins/wins-api';
import type { ProcessStartRequest, RunLimits } from '@wins/wins-api/contract';

/** Converts a complete start request, for all calls that start runs, because an omitted field could be a limit. */
export function startRequestOf(message: ProcessStartRequest): Omit<StartRequest, 'owner'> {
  const { Path, Args, Envs, Dir, Exposes, Checksum, ChecksumSHA256 } = message;
  const { Limits, Replace, Files } = message;
  return {
    ...{ path: Path, args: Args, envs: Envs, replaces: Replace },
    exposes: Exposes.map(({ Port, Protocol }) => ({
      port: Port,
      protocol: Protocol === RunExposeProtocol.UDP ? 'udp' : 'tcp',
    })),
    ...(Dir !== '' && { directory: Dir }),
    ...(Checksum !== '' && { sha1: Checksum }),
    ...(ChecksumSHA256 !== '' && { sha256: ChecksumSHA256 }),
    ...(Limits && { limits: limitsOf(Limits) }),
    files: Files.map(fileOf),
  };
}

export function fileOf({ Name, Content }: FileMessage): RunFile {
  return { name: Name, content: Content };
}

/** Converts limits; 0 means no limit. */
function limitsOf({ MemoryBytes, CpuMillis, Pids }: RunLimits): TreeLimits {
  return {
    ...(MemoryBytes !== 0n && { memoryBytes: Number(MemoryBytes) }),
    ...(CpuMillis !== 0 && { cpus: CpuMillis / 1000 }),
    ...(Pids !== 0 && { pids: Pids }),
  };
}
