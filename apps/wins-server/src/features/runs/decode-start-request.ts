import { messageOf, type TreeLimits } from '@wins/base';
import { ProcessError, type StartRequest } from '@wins/process-manager';
import { RunExposeProtocol } from '@wins/wins-api';
import {
  processServiceDefinition,
  ProcessStartRequest,
  UNKNOWN_PARTS,
  type RunLimits,
} from '@wins/wins-api/contract';

/** @throws ProcessError `invalidArgument`. */
export function decodeStart(message: Buffer): ProcessStartRequest {
  try {
    return processServiceDefinition.start.requestDeserialize(message);
  } catch (cause) {
    const text = `cannot start a run: ${messageOf(cause)}`;
    throw new ProcessError('invalidArgument', text, { cause });
  }
}

/** Refuses unknown fields, because ignoring them could drop a limit. @throws ProcessError `invalidArgument`, also when the message is malformed. */
export function decodeExactly(message: Buffer): ProcessStartRequest {
  const request = decodeStart(message);
  const known = ProcessStartRequest.encode(request).finish().length;
  if (known === message.length) return request;
  throw new ProcessError('invalidArgument', `${UNKNOWN_PARTS}; upgrade the daemon`);
}

/** Shared by all calls that start runs, so that none drops a field such as a limit. */
export function startRequestOf(message: ProcessStartRequest): Omit<StartRequest, 'owner'> {
  const { path, args, envs, dir, exposes, checksum, checksumSha256 } = message;
  const { limits, replace, files } = message;
  return {
    path,
    args,
    envs,
    replace,
    exposes: exposes.map(({ port, protocol }) => ({
      port,
      protocol: protocol === RunExposeProtocol.UDP ? 'udp' : 'tcp',
    })),
    ...(dir !== '' && { directory: dir }),
    ...(checksum !== '' && { sha1: checksum }),
    ...(checksumSha256 !== '' && { sha256: checksumSha256 }),
    ...(limits && { limits: limitsOf(limits) }),
    files,
  };
}

function limitsOf({ memoryBytes, cpuMillis, pids }: RunLimits): TreeLimits {
  return {
    ...(memoryBytes !== 0 && { memoryBytes }),
    ...(cpuMillis !== 0 && { cpus: cpuMillis / 1000 }),
    ...(pids !== 0 && { pids }),
  };
}
