import type { HostServiceServer } from '@wins/wins-api/contract';
import type { HostCallGate } from './host-call-gate.js';

/** Serves wins.HostService. */
export function createHostService(calls: Pick<HostCallGate, 'answer'>): HostServiceServer {
  return {
    getVersion: (call, respond) =>
      calls.answer(call, respond, {
        action: 'getVersion',
        subject: [],
        plan: () => async (host) => {
          const version = await host.version();
          return {
            Data: {
              CurrentMajorVersionNumber: version.currentMajorVersionNumber,
              CurrentMinorVersionNumber: version.currentMinorVersionNumber,
              CurrentBuildNumber: version.currentBuildNumber,
              UBR: version.ubr,
              ReleaseId: version.releaseId,
              BuildLabEx: version.buildLabEx,
              CurrentBuild: version.currentBuild,
            },
          };
        },
      }),
  };
}
