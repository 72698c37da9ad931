/* The only place where errors of Node become a NetError. */
import { errnoOf, messageOf } from '@wins/base';
import { isNetError, NetError, type NetErrorCode } from '../net-error.js';
import { quoteForeign } from './foreign-text.js';

export type Stage = 'connect' | 'proxy' | 'proxyTls' | 'tls' | 'answer';

const NAME_ERRORS = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME']);
const CERTIFICATE_ERRORS = new Map<string, NetErrorCode>([
  ['CERT_HAS_EXPIRED', 'certificateExpired'],
  ['CERT_NOT_YET_VALID', 'certificateExpired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'otherHost'],
  ['CERT_SIGNATURE_FAILURE', 'unknownAuthority'],
  ['CERT_UNTRUSTED', 'unknownAuthority'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'unknownAuthority'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'unknownAuthority'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'unknownAuthority'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'unknownAuthority'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unknownAuthority'],
]);

const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['EAI_AGAIN', 'no DNS server answered'],
  ['ECONNREFUSED', 'nothing listens there'],
  ['ECONNRESET', 'the connection was reset'],
  ['EHOSTUNREACH', 'no route leads there'],
  ['ENETUNREACH', 'no route leads there'],
  ['ENOTFOUND', 'there is no such name'],
  ['EPIPE', 'the connection was reset'],
  ['ETIMEDOUT', 'no answer in time'],
]);

export interface RequestFacts {
  readonly what: string;
  readonly secrets: readonly string[];
}

/** Translates an error; returns a `NetError` unchanged. `peer`: `host:port`. */
export function networkFailure(
  error: unknown,
  stage: Stage,
  peer: string,
  { what, secrets }: RequestFacts,
): NetError {
  if (isNetError(error)) return error as NetError;
  const errno = errnoOf(error) ?? '';
  const meaning = MEANINGS.get(errno);
  const reason = meaning === undefined ? errno || messageOf(error) : `${meaning} (${errno})`;
  const failed = (code: NetErrorCode, found: string, isTransient: boolean) =>
    new NetError(code, `cannot ${what}: ${found}`, {
      isTransient,
      // No cause: the parser's error contains bytes of the answer, which may be secret.
      ...(errno.startsWith('HPE_') ? {} : { cause: error }),
    });

  if (stage === 'connect') {
    if (NAME_ERRORS.has(errno))
      return failed('nameResolution', `the name of ${peer} cannot be resolved: ${reason}`, true);
    return failed('unreachable', `no connection to ${peer}: ${reason}`, true);
  }
  if (stage === 'proxy') {
    const step = NAME_ERRORS.has(errno) ? 'its name cannot be resolved' : 'it cannot be reached';
    return failed('proxyFailed', `the proxy ${peer}: ${step}: ${reason}`, true);
  }
  if (stage === 'tls' || stage === 'proxyTls') {
    const certificate = CERTIFICATE_ERRORS.get(errno);
    const isCut = errno === '' || ['ECONNRESET', 'EPIPE', 'ECONNABORTED'].includes(errno);
    const found =
      certificate === undefined
        ? `TLS with ${peer} failed: ${meaning === undefined ? quoteForeign(reason, secrets) : reason}`
        : certificateFound(certificate, error, peer, secrets);
    if (stage === 'tls') return failed(certificate ?? 'tlsFailed', found, isCut);
    return failed('proxyFailed', `the proxy ${peer}: ${found}`, isCut);
  }
  if (errno.startsWith('HPE_'))
    return failed('badShape', `the answer of ${peer} is not valid HTTP (${errno})`, false);
  return failed('interrupted', `${peer} ended the connection: ${reason}`, true);
}

function certificateFound(
  code: NetErrorCode,
  error: unknown,
  peer: string,
  secrets: readonly string[],
): string {
  if (code === 'certificateExpired')
    return `the certificate of ${peer} is not valid today (${errnoOf(error) ?? ''}). Check the clock of this node`;
  if (code === 'otherHost') {
    const { cert } = error as { cert?: { subjectaltname?: string } };
    const names = quoteForeign(cert?.subjectaltname ?? 'no names', secrets);
    return `the certificate of ${peer} is for another host: found ${names}`;
  }
  return `the certificate of ${peer} is from an unknown authority (${errnoOf(error) ?? ''})`;
}
