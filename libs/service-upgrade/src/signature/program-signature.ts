import * as asn1 from 'asn1js';
import { hashOf } from './algorithms.js';
import type { Work } from './certificate-chain.js';
import {
  identifierOf,
  readMessage,
  verifyMessage,
  type SignedMessage,
  type UnverifiedMessage,
} from './signed-message.js';
import type { ProgramDigests } from './signed-content.js';
import { AlgorithmIdentifier } from 'pkijs';

/** Authenticode's SPC_INDIRECT_DATA and SPC_PE_IMAGE_DATA, and the attribute with further signatures (`signtool /as`). */
const INDIRECT_DATA = '1.3.6.1.4.1.311.2.1.4';
const PE_IMAGE_DATA = '1.3.6.1.4.1.311.2.1.15';
const NESTED = '1.3.6.1.4.1.311.2.4.1';
const MAX_SIGNATURES = 8;

/**
 * Returns the first signature, and those nested in it. Each is a whole message about the same program, so each may be
 * judged alone. @throws Error if the first one is unreadable, or if there are more than eight.
 */
export function readSignatures(message: Buffer): readonly (() => UnverifiedMessage)[] {
  const { result, offset } = asn1.fromBER(message);
  if (offset <= 0) throw new Error(`its message is truncated: ${result.error}`);
  const padding = message.subarray(offset);
  if (padding.length > 7 || padding.some((byte) => byte !== 0))
    throw new Error(`${padding.length} bytes follow its message`);
  const first = readMessage(result);
  const nested = first.unsigned
    .filter(({ type }) => type === NESTED)
    .flatMap(({ values }) => values as asn1.BaseBlock[]);
  if (nested.length >= MAX_SIGNATURES)
    throw new Error(`it has ${nested.length + 1} signatures; wanted at most ${MAX_SIGNATURES}`);
  return [() => first, ...nested.map((block) => () => readMessage(block))];
}

/** @throws Error unless the message signs a program with these digests. */
export function verifyProgram(
  message: UnverifiedMessage,
  digests: ProgramDigests,
  work: Work,
): SignedMessage {
  if (message.signed.encapContentInfo.eContentType !== INDIRECT_DATA)
    throw new Error('it does not sign a program');
  const verified = verifyMessage(message, work);
  const [data, digestInfo] = parts(verified.content);
  if (identifierOf(parts(data)[0]) !== PE_IMAGE_DATA) throw new Error('it does not sign a PE file');
  const [algorithm, value] = parts(digestInfo);
  const hash = algorithm && hashOf(new AlgorithmIdentifier({ schema: algorithm }));
  if (hash === undefined) throw new Error('the digest of the program is weaker than SHA-256');
  if (!(value instanceof asn1.OctetString) || !digests[hash].equals(Buffer.from(value.getValue())))
    throw new Error('the program was changed after it was signed');
  return verified;
}

function parts(block: asn1.BaseBlock | undefined): readonly asn1.BaseBlock[] {
  return block instanceof asn1.Constructed ? block.valueBlock.value : [];
}
