import { HealthCheckRequest, HealthService } from '../gen/health.js';

/** Maximum length of a request about a service of ours, in octets; longer ones are not parsed. */
const LONGEST_REQUEST = 64;
/** Placeholder for a name that is too long; no service has it. */
const UNKNOWN_NAME = '?';

/** Parses the service name of a request. A request that is too long yields a name that no service has. */
function deserializeHealthRequest(message: Buffer): HealthCheckRequest {
  return message.length > LONGEST_REQUEST
    ? { service: UNKNOWN_NAME }
    : HealthCheckRequest.decode(message);
}

/** The standard health service for servers; it does not keep a long name in memory while a client watches. */
export const healthServiceDefinition = {
  ...HealthService,
  check: { ...HealthService.check, requestDeserialize: deserializeHealthRequest },
  watch: { ...HealthService.watch, requestDeserialize: deserializeHealthRequest },
} as const;
